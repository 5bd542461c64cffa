// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Slots is the number of slots of a cluster; each key is in one of them.
const Slots = 16384

// State is the cluster's state in the vendor's words.
type State string

// States of a cluster. The vendor's InvalidUpgrade, RecoveryReset and ClusterRecreating do not occur.
const (
	// StatePendingCreation: no child exists yet.
	StatePendingCreation State = "PendingCreation"
	// StateBootstrappingFirstPod: no pod runs yet.
	StateBootstrappingFirstPod State = "BootstrappingFirstPod"
	// StateInitializing: the servers form a cluster for the first time.
	StateInitializing State = "Initializing"
	// StateRecoveringFirstPod: no slot is served, and the servers form the cluster again.
	StateRecoveringFirstPod State = "RecoveringFirstPod"
	// StateRunning: every slot is served.
	StateRunning State = "Running"
	// StateRunningRollingUpdate: every slot is served, and pods change one after another.
	StateRunningRollingUpdate State = "RunningRollingUpdate"
	// StateUpgrade: pods change to another image one after another.
	StateUpgrade State = "Upgrade"
	// StateHibernating: spec.hibernate has stopped all pods. The vendor has no such state.
	StateHibernating State = "Hibernating"
	// StateError: slots are not served, or children cannot be applied.
	StateError State = "Error"
	// StateInvalid: the spec is invalid.
	StateInvalid State = "Invalid"
	// StateDeleting: the object is being deleted.
	StateDeleting State = "Deleting"
)

// SpecStatus reports whether the spec can be served.
type SpecStatus string

// Values of a spec's status, the vendor's.
const (
	SpecValid   SpecStatus = "Valid"
	SpecInvalid SpecStatus = "Invalid"
)

// Place is one of the two servers of a pod.
type Place string

// Places of a pod. Home is the place of the primary of the pod's own shard, Guest the place of the replica of
// the shard of the previous pod in the ring.
const (
	Home  Place = "home"
	Guest Place = "guest"
)

// Role is what a server does now.
type Role string

// Roles of a server.
const (
	Primary Role = "primary"
	Replica Role = "replica"
)

// RedisEnterpriseClusterStatus is the observed state of the cluster. Volatile values, such as keys, bytes
// and lag, are in the pods' metrics.
type RedisEnterpriseClusterStatus struct {
	// state of the cluster in the vendor's words, such as Running.
	// +optional
	State State `json:"state,omitempty"`

	// specStatus is Valid, or Invalid while the spec cannot be served.
	// +optional
	SpecStatus SpecStatus `json:"specStatus,omitempty"`

	// nodes is the number of pods after the last completed change.
	// +optional
	Nodes int32 `json:"nodes"`

	// readyNodes is the number of pods with their role in the ring.
	// +optional
	ReadyNodes int32 `json:"readyNodes"`

	// shards is the number of primaries that hold slots.
	// +optional
	Shards int32 `json:"shards"`

	// version is the lowest version of the servers, such as 7.0.15 or valkey 8.1.3.
	// +optional
	Version string `json:"version,omitempty"`

	// secretName names the Secret with username and password.
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// endpoints are the addresses of the cluster for clients.
	// +optional
	Endpoints *Endpoints `json:"endpoints,omitempty"`

	// slots shows which server has which slots, in the order of the pods.
	// +optional
	// +listType=map
	// +listMapKey=pod
	// +listMapKey=place
	Slots []ServerSlots `json:"slots,omitempty"`

	// move is set while slots move between pods.
	// +optional
	Move *Move `json:"move,omitempty"`

	// persistenceStatus is the state of the pods' volumes; absent without volumes.
	// +optional
	PersistenceStatus *PersistenceStatus `json:"persistenceStatus,omitempty"`

	// selector selects the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the cluster; Ready summarizes the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// VolumesState is the state of volumes, in the vendor's words.
type VolumesState string

// States of volumes.
const (
	// VolumesProvisioning: not every pod has its volume yet.
	VolumesProvisioning VolumesState = "Provisioning"
	// VolumesProvisioned: each pod has its volume, of the size in the spec if volumes follow it.
	VolumesProvisioned VolumesState = "Provisioned"
	// VolumesResizing: some volumes grow.
	VolumesResizing VolumesState = "Resizing"
	// VolumesResizeFailed: a volume cannot grow; UpToDate says why, unless it reports something more urgent.
	VolumesResizeFailed VolumesState = "ResizeFailed"
)

// PersistenceStatus is the state of the pods' volumes.
type PersistenceStatus struct {
	// status is Provisioning, Provisioned, Resizing or ResizeFailed.
	// +optional
	Status VolumesState `json:"status,omitempty"`
	// succeeded is the number of volumes that match the spec, of all, such as 2/3.
	// +optional
	Succeeded string `json:"succeeded,omitempty"`
}

// Endpoints are the addresses of the cluster for clients.
type Endpoints struct {
	// cluster is the address from which clients discover the cluster, <name>.<namespace>.svc:6379.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// nodes are the addresses of the home servers, in the order of the pods.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
	// ui is the address of the status page.
	// +optional
	UI string `json:"ui,omitempty"`
}

// ServerSlots is the role and the slots of a server.
type ServerSlots struct {
	// pod that the server runs in.
	// +required
	Pod string `json:"pod"`
	// place of the server in the pod, home or guest.
	// +required
	Place Place `json:"place"`
	// role is primary or replica; empty while the server does not answer.
	// +optional
	Role Role `json:"role,omitempty"`
	// slots that the server or its primary serves, such as 0-5460; ranges are separated by commas.
	// +optional
	Slots string `json:"slots,omitempty"`
}

// Move is the progress of a move of slots.
type Move struct {
	// reason is ScalingUp, ScalingDown or Rebalancing.
	// +optional
	Reason string `json:"reason,omitempty"`
	// slotsMoved is how many slots have moved.
	// +optional
	SlotsMoved int32 `json:"slotsMoved"`
	// slotsTotal is how many slots have to move in total.
	// +optional
	SlotsTotal int32 `json:"slotsTotal"`
	// startedAt is when the move started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}

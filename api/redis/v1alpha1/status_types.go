// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Slots is how many slots a cluster has; each key is in one of them.
const Slots = 16384

// State is the cluster's state in the vendor's words.
type State string

// States of a cluster. The vendor's InvalidUpgrade, RecoveryReset and ClusterRecreating stand for what does not
// happen here.
const (
	// StatePendingCreation: nothing was made yet.
	StatePendingCreation State = "PendingCreation"
	// StateBootstrappingFirstPod: no pod runs yet.
	StateBootstrappingFirstPod State = "BootstrappingFirstPod"
	// StateInitializing: the servers form a cluster for the first time.
	StateInitializing State = "Initializing"
	// StateRecoveringFirstPod: no slot is served, and the servers find together again.
	StateRecoveringFirstPod State = "RecoveringFirstPod"
	// StateRunning: every slot is served.
	StateRunning State = "Running"
	// StateRunningRollingUpdate: every slot is served, and pods change one after another.
	StateRunningRollingUpdate State = "RunningRollingUpdate"
	// StateUpgrade: pods change to another image one after another.
	StateUpgrade State = "Upgrade"
	// StateHibernating: the spec says that there are to be no pods. The vendor has no word for it.
	StateHibernating State = "Hibernating"
	// StateError: slots are not served, or children cannot be put in place.
	StateError State = "Error"
	// StateInvalid: the spec asks for what cannot be.
	StateInvalid State = "Invalid"
	// StateDeleting: the object is going away.
	StateDeleting State = "Deleting"
)

// SpecStatus tells whether the spec can be served.
type SpecStatus string

// Values of a spec's status, the vendor's.
const (
	SpecValid   SpecStatus = "Valid"
	SpecInvalid SpecStatus = "Invalid"
)

// Place is one of the two servers of a pod.
type Place string

// Places of a pod. Home is the place of the primary of the pod's own shard, Guest that of the replica of the
// shard of the pod before it in the ring.
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

// RedisEnterpriseClusterStatus is what was seen of the cluster. What moves all the time, such as keys,
// bytes and lag, is in the pods' metrics.
type RedisEnterpriseClusterStatus struct {
	// state of the cluster in the vendor's words, such as Running.
	// +optional
	State State `json:"state,omitempty"`

	// specStatus is Valid, or Invalid while the spec asks for what cannot be.
	// +optional
	SpecStatus SpecStatus `json:"specStatus,omitempty"`

	// nodes is the number of pods that there are to be, as the last change was carried out.
	// +optional
	Nodes int32 `json:"nodes"`

	// readyNodes is how many of them have their role in the ring.
	// +optional
	ReadyNodes int32 `json:"readyNodes"`

	// shards is the number of primaries that hold slots.
	// +optional
	Shards int32 `json:"shards"`

	// version is the lowest that any server runs, such as 7.0.15 or valkey 8.1.3.
	// +optional
	Version string `json:"version,omitempty"`

	// secretName names the Secret with username and password.
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// endpoints are where clients find the cluster.
	// +optional
	Endpoints *Endpoints `json:"endpoints,omitempty"`

	// slots tells which server has which, in the order of the pods.
	// +optional
	// +listType=map
	// +listMapKey=pod
	// +listMapKey=place
	Slots []ServerSlots `json:"slots,omitempty"`

	// move is there while slots move between pods.
	// +optional
	Move *Move `json:"move,omitempty"`

	// persistenceStatus is how far the volumes of the pods are; not there without any.
	// +optional
	PersistenceStatus *PersistenceStatus `json:"persistenceStatus,omitempty"`

	// selector selects the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the cluster; Ready sums up the others.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// VolumesState is how far volumes are, in the vendor's words.
type VolumesState string

// States of volumes.
const (
	// VolumesProvisioning: not every pod has its volume yet.
	VolumesProvisioning VolumesState = "Provisioning"
	// VolumesProvisioned: each has, of the size that the spec has where volumes are to follow it.
	VolumesProvisioned VolumesState = "Provisioned"
	// VolumesResizing: some are being made larger.
	VolumesResizing VolumesState = "Resizing"
	// VolumesResizeFailed: one cannot be made larger; UpToDate says why, when nothing else stands there.
	VolumesResizeFailed VolumesState = "ResizeFailed"
)

// PersistenceStatus is how far the volumes of the pods are.
type PersistenceStatus struct {
	// status is Provisioning, Provisioned, Resizing or ResizeFailed.
	// +optional
	Status VolumesState `json:"status,omitempty"`
	// succeeded is how many volumes are as they are to be, and of how many, such as 2/3.
	// +optional
	Succeeded string `json:"succeeded,omitempty"`
}

// Endpoints are where clients find the cluster.
type Endpoints struct {
	// cluster is what clients of a Redis cluster start from, <name>.<namespace>.svc:6379.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// nodes are the servers at home, in the order of the pods.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
	// ui is the status page.
	// +optional
	UI string `json:"ui,omitempty"`
}

// ServerSlots is what a server has.
type ServerSlots struct {
	// pod that the server runs in.
	// +required
	Pod string `json:"pod"`
	// place of the server in it, home or guest.
	// +required
	Place Place `json:"place"`
	// role is primary or replica; empty while the server does not answer.
	// +optional
	Role Role `json:"role,omitempty"`
	// slots are those that it serves, or that its primary does, such as 0-5460; ranges are separated by commas.
	// +optional
	Slots string `json:"slots,omitempty"`
}

// Move is how far a move of slots is.
type Move struct {
	// reason is ScalingUp, ScalingDown or Rebalancing.
	// +optional
	Reason string `json:"reason,omitempty"`
	// slotsMoved is how many slots have moved.
	// +optional
	SlotsMoved int32 `json:"slotsMoved"`
	// slotsTotal is how many are to move in all.
	// +optional
	SlotsTotal int32 `json:"slotsTotal"`
	// startedAt is when it began.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}

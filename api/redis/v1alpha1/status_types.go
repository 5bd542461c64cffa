// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Slots is the number of hash slots of a Redis cluster. Each key belongs to one of them.
const Slots = 16384

// State is the state of the cluster, by the names that Redis Enterprise uses.
type State string

// States of a cluster, by the names that Redis Enterprise uses. opcrew never sets the Redis Enterprise states
// InvalidUpgrade, RecoveryReset and ClusterRecreating.
const (
	// StatePendingCreation: the operator has not created any object for the cluster yet.
	StatePendingCreation State = "PendingCreation"
	// StateBootstrappingFirstPod: no pod is running yet.
	StateBootstrappingFirstPod State = "BootstrappingFirstPod"
	// StateInitializing: the servers are forming a cluster for the first time.
	StateInitializing State = "Initializing"
	// StateRecoveringFirstPod: no slot is served, and the servers are forming the cluster again.
	StateRecoveringFirstPod State = "RecoveringFirstPod"
	// StateRunning: every slot is served.
	StateRunning State = "Running"
	// StateRunningRollingUpdate: every slot is served, and the operator is replacing pods one after another.
	StateRunningRollingUpdate State = "RunningRollingUpdate"
	// StateUpgrade: the operator is moving pods to another image, one after another.
	StateUpgrade State = "Upgrade"
	// StateHibernating: spec.hibernate has stopped all pods. Redis Enterprise has no such state.
	StateHibernating State = "Hibernating"
	// StateError: some slots are not served, or the operator cannot apply the objects of the cluster.
	StateError State = "Error"
	// StateInvalid: the spec is invalid.
	StateInvalid State = "Invalid"
	// StateDeleting: the object is being deleted.
	StateDeleting State = "Deleting"
)

// SpecStatus reports whether the spec is valid.
type SpecStatus string

// Values of SpecStatus, by the names that Redis Enterprise uses.
const (
	SpecValid   SpecStatus = "Valid"
	SpecInvalid SpecStatus = "Invalid"
)

// Place is one of the two servers of a pod: home or guest.
type Place string

// Values of Place. The home server is normally the primary of its pod's own shard. The guest server is normally a
// replica of the previous pod's shard. For the first pod, the previous pod is the last one.
const (
	Home  Place = "home"
	Guest Place = "guest"
)

// Role is the current role of a server: primary or replica.
type Role string

// Values of Role.
const (
	Primary Role = "primary"
	Replica Role = "replica"
)

// RedisEnterpriseClusterStatus is the observed state of the cluster. Values that change all the time, such as numbers
// of keys and bytes and the replication lag, are in the pods' metrics instead.
type RedisEnterpriseClusterStatus struct {
	// state of the cluster, by the names that Redis Enterprise uses, such as Running.
	// +optional
	State State `json:"state,omitempty"`

	// specStatus is Valid, or Invalid while the spec has an error. Condition UpToDate then says what to write instead.
	// +optional
	SpecStatus SpecStatus `json:"specStatus,omitempty"`

	// nodes is the number of pods that the StatefulSet of the cluster requests. During hibernation, it is the number
	// from before the hibernation.
	// +optional
	Nodes int32 `json:"nodes"`

	// readyNodes is the number of pods that have the primary of their own shard and a replica of the previous pod's
	// shard.
	// +optional
	ReadyNodes int32 `json:"readyNodes"`

	// shards is the number of primaries that have slots.
	// +optional
	Shards int32 `json:"shards"`

	// version is the lowest version that a server runs, such as 7.0.15 or valkey 8.1.3.
	// +optional
	Version string `json:"version,omitempty"`

	// secretName is the name of the Secret with the username and the password for clients.
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// endpoints are the addresses at which clients find the cluster and its status page.
	// +optional
	Endpoints *Endpoints `json:"endpoints,omitempty"`

	// slots shows the role and the slots of each server, sorted by pod.
	// +optional
	// +listType=map
	// +listMapKey=pod
	// +listMapKey=place
	Slots []ServerSlots `json:"slots,omitempty"`

	// move is the progress of a move of slots between pods. It is absent while no slots move.
	// +optional
	Move *Move `json:"move,omitempty"`

	// persistenceStatus is the state of the pods' volumes. It is absent if the pods have no volumes.
	// +optional
	PersistenceStatus *PersistenceStatus `json:"persistenceStatus,omitempty"`

	// selector is the label selector of the pods, which the scale subresource needs.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the metadata.generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions of the cluster; Ready summarizes the other conditions.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// VolumesState is the state of the pods' volumes, by the names that Redis Enterprise uses.
type VolumesState string

// Values of VolumesState.
const (
	// VolumesProvisioning: at least one pod does not have its volume yet.
	VolumesProvisioning VolumesState = "Provisioning"
	// VolumesProvisioned: each pod has its volume. With enablePersistentVolumeResize each volume has the size in the
	// spec.
	VolumesProvisioned VolumesState = "Provisioned"
	// VolumesResizing: some volumes are growing.
	VolumesResizing VolumesState = "Resizing"
	// VolumesResizeFailed: a volume cannot grow. The message of condition UpToDate says why, if nothing more urgent is
	// wrong.
	VolumesResizeFailed VolumesState = "ResizeFailed"
)

// PersistenceStatus is the state of the pods' volumes.
type PersistenceStatus struct {
	// status of the volumes: Provisioning, Provisioned, Resizing or ResizeFailed.
	// +optional
	Status VolumesState `json:"status,omitempty"`
	// succeeded shows how many volumes match the spec, and how many there are, such as 2/3.
	// +optional
	Succeeded string `json:"succeeded,omitempty"`
}

// Endpoints are the addresses at which clients find the cluster and its status page.
type Endpoints struct {
	// cluster is the address from which clients discover all servers: <name>.<namespace>.svc:6379.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// nodes are the addresses of the first of the two servers (home) in each pod, sorted by pod.
	// +optional
	// +listType=atomic
	Nodes []string `json:"nodes,omitempty"`
	// ui is the address of the status page.
	// +optional
	UI string `json:"ui,omitempty"`
}

// ServerSlots shows the role and the slots of a server.
type ServerSlots struct {
	// pod is the name of the pod in which the server runs.
	// +required
	Pod string `json:"pod"`
	// place says which of the pod's two servers this is: home, which normally is the primary of the pod's own shard, or
	// guest, which normally is a replica of the previous pod's shard.
	// +required
	Place Place `json:"place"`
	// role of the server: primary or replica. It is empty while the server does not respond.
	// +optional
	Role Role `json:"role,omitempty"`
	// slots that the server or its primary serves, such as 0-5460. Commas separate several ranges.
	// +optional
	Slots string `json:"slots,omitempty"`
}

// Move is the progress of a move of slots between pods.
type Move struct {
	// reason of the move: ScalingUp, ScalingDown or Rebalancing.
	// +optional
	Reason string `json:"reason,omitempty"`
	// slotsMoved is the number of slots that have moved.
	// +optional
	SlotsMoved int32 `json:"slotsMoved"`
	// slotsTotal is the number of slots that have to move in total.
	// +optional
	SlotsTotal int32 `json:"slotsTotal"`
	// startedAt is when the move started.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Annotations and labels on the pods and claims of members.
const (
	// StartAnnotation holds how etcd may start in the pod, and with which member ID. The gate, which is opcrew's agent
	// that starts etcd in the pod, reads it: see internal/agents/etcdgate.
	StartAnnotation = "etcd.opcrew.io/start"
	// SerialAnnotation holds the serial number from which the member's name is computed.
	SerialAnnotation = "etcd.opcrew.io/serial"
	// FirstMembersAnnotation holds, on objects of first members, the number of members that form the cluster.
	FirstMembersAnnotation = "etcd.opcrew.io/first-members"
	// VoterLabel is set on the pods of voters that clients may use. The client Service selects by it.
	VoterLabel = "etcd.opcrew.io/voter"
	// IsVoter is the value of VoterLabel on pods that clients may use. IsFormer is its value on pods from before a
	// restore.
	IsVoter  = "true"
	IsFormer = "former"
	// RestoreAnnotation holds, on the objects of a restored cluster's first member, the UID of the restore.
	RestoreAnnotation = "etcd.opcrew.io/restore"
	// SettingsAnnotation holds the hash of the settings that the pod was created with.
	SettingsAnnotation = "etcd.opcrew.io/settings"
)

// Container is the name of the container that runs etcd.
const Container = "etcd"

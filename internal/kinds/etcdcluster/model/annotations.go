// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Annotations and labels of members' pods and claims.
const (
	// StartAnnotation holds how the member may start, and with which id. The gate in the pod reads it: see
	// internal/agents/etcdgate.
	StartAnnotation = "etcd.opcrew.io/start"
	// SerialAnnotation holds the number from which the member's name is made.
	SerialAnnotation = "etcd.opcrew.io/serial"
	// FirstMembersAnnotation holds the number of members that a cluster begins with.
	FirstMembersAnnotation = "etcd.opcrew.io/first-members"
	// VoterLabel is set on the pods of voters that serve clients. The Service for clients selects by it.
	VoterLabel = "etcd.opcrew.io/voter"
	// IsVoter is the value of VoterLabel on pods that serve clients; IsFormer is its value on pods from before a
	// recovery.
	IsVoter  = "true"
	IsFormer = "former"
	// RestoreAnnotation holds, on a pod or claim, the UID of the EtcdRestore that it was made for.
	RestoreAnnotation = "etcd.opcrew.io/restore"
	// SettingsAnnotation holds the hash of the settings for which the pod was created.
	SettingsAnnotation = "etcd.opcrew.io/settings"
)

// Container is the name of the container that runs etcd.
const Container = "etcd"

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Annotations and labels of members' pods and claims.
const (
	// StartAnnotation is how the member may start, and with which id. The gate in the pod reads it: see
	// internal/agents/etcdgate.
	StartAnnotation = "etcd.opcrew.io/start"
	// SerialAnnotation is the number from which the member's name is made.
	SerialAnnotation = "etcd.opcrew.io/serial"
	// FirstMembersAnnotation is the number of members that a cluster begins with.
	FirstMembersAnnotation = "etcd.opcrew.io/first-members"
	// VoterLabel is on the pods of voters that serve clients; the Service for clients selects by it.
	VoterLabel = "etcd.opcrew.io/voter"
	// IsVoter is the value of VoterLabel on pods that serve, IsFormer on pods from before a recovery.
	IsVoter  = "true"
	IsFormer = "former"
	// RestoreAnnotation of a pod or claim is the UID of the EtcdRestore that it was made for.
	RestoreAnnotation = "etcd.opcrew.io/restore"
	// SettingsAnnotation is the hash of the settings for which the pod was created.
	SettingsAnnotation = "etcd.opcrew.io/wishes"
)

// Container is the name of the container that runs etcd.
const Container = "etcd"

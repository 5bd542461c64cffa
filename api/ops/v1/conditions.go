// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a Diva.
const (
	// DivaReady summarizes the other conditions. It has the status and reason of the most important condition that
	// reports a problem.
	DivaReady = "Ready"
	// DivaChildrenReady reports whether all children of the Diva have the fields that the operator declares for them.
	DivaChildrenReady = "ChildrenReady"
	// DivaSSHReady reports whether the manager pods can log in to the client pods. While the key pair is being
	// replaced, the message of the condition shows the progress.
	DivaSSHReady = "SSHReady"
	// DivaStorageReady reports whether every claim is bound and has the size in the spec.
	DivaStorageReady = "StorageReady"
	// DivaClientsReady reports whether all client pods match the spec and are ready.
	DivaClientsReady = "ClientsReady"
	// DivaManagerReady reports whether all manager pods match the spec and are ready.
	DivaManagerReady = "ManagerReady"
	// DivaKeyWarning is True while a key in the spec is unusable, or while the spec contains a private key. Otherwise
	// the condition is absent. The condition does not affect Ready.
	DivaKeyWarning = "KeyWarning"
)

// Condition reasons of a Diva, in addition to those that all kinds share and those that the application kinds share.
const (
	// ReasonKeysInPlace: the manager pods and all client pods have their current ssh keys.
	ReasonKeysInPlace = "KeysInPlace"
	// ReasonRotating: the operator is replacing the ssh key pair. The manager pods can log in throughout.
	ReasonRotating = "Rotating"
	// ReasonKeyLost: the Secret with the private key was deleted, so the operator is replacing the key pair.
	ReasonKeyLost = "KeyLost"
	// ReasonKeyUnusable: the private key that the user configured is invalid or in a format that opcrew cannot read.
	ReasonKeyUnusable = "KeyUnusable"
	// ReasonKeyMismatch: the public key that the user configured does not belong to the private key.
	ReasonKeyMismatch = "KeyMismatch"
	// ReasonKeyMissing: the Secret in spec.ssh.secretRef does not exist, or contains no private key.
	ReasonKeyMissing = "KeyMissing"
	// ReasonInlineKey: the spec contains a private key, which everyone who can read the Diva can read.
	ReasonInlineKey = "InlineKey"
	// ReasonClientsHoldKey: client pods that an earlier version of opcrew created still have the private key of the
	// manager pods.
	ReasonClientsHoldKey = "ClientsHoldKey"
	// ReasonPublicKeyUnusable: a line of spec.publicKey is not a valid public key.
	ReasonPublicKeyUnusable = "PublicKeyUnusable"
	// ReasonBound: every claim is bound and has the size in the spec.
	ReasonBound = "Bound"
	// ReasonClaimsPending: a claim is not bound to a volume yet.
	ReasonClaimsPending = "ClaimsPending"
	// ReasonGrowing: volumes are growing to the size in the spec.
	ReasonGrowing = "Growing"
	// ReasonCannotGrow: the StorageClass of a claim does not allow volume expansion.
	ReasonCannotGrow = "CannotGrow"
	// ReasonClaimDiffers: the StorageClass of an existing claim differs from the StorageClass in the spec.
	ReasonClaimDiffers = "ClaimDiffers"
	// ReasonClaimLost: the volume of a claim no longer exists.
	ReasonClaimLost = "ClaimLost"
	// ReasonClaimTerminating: a claim is being deleted. It disappears when the pod that uses it ends.
	ReasonClaimTerminating = "ClaimTerminating"
	// ReasonClaimRemade: every claim is bound, but within the last day a claim was deleted and created again without
	// its data.
	ReasonClaimRemade = "ClaimRemade"
	// ReasonAllReady: all manager pods and all client pods are ready.
	ReasonAllReady = "AllReady"
)

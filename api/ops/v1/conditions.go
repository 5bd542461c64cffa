// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a Diva.
const (
	// DivaReady summarizes the others: it is False with the first blocking cause.
	DivaReady = "Ready"
	// DivaChildrenReady reports whether all children of the Diva are as declared.
	DivaChildrenReady = "ChildrenReady"
	// DivaSSHReady reports whether the manager can log in to the clients, and the progress of
	// a change of the key pair.
	DivaSSHReady = "SSHReady"
	// DivaStorageReady reports whether every claim is bound and has its desired size.
	DivaStorageReady = "StorageReady"
	// DivaClientsReady reports whether all clients match the spec and are ready.
	DivaClientsReady = "ClientsReady"
	// DivaManagerReady reports whether the manager matches the spec and is ready.
	DivaManagerReady = "ManagerReady"
	// DivaKeyWarning is True while keys in the spec cannot be used, or a private key is in the
	// spec. Otherwise it is absent. It does not affect Ready.
	DivaKeyWarning = "KeyWarning"
)

// Reasons of a Diva's conditions, in addition to those of every kind and of the application
// kinds.
const (
	// ReasonKeysInPlace: manager and clients have the right keys.
	ReasonKeysInPlace = "KeysInPlace"
	// ReasonRotating: another key pair is taken into use; logins keep working.
	ReasonRotating = "Rotating"
	// ReasonKeyLost: the Secret with the private key was deleted; another pair replaces it.
	ReasonKeyLost = "KeyLost"
	// ReasonKeyUnusable: the configured private key cannot be used.
	ReasonKeyUnusable = "KeyUnusable"
	// ReasonKeyMismatch: the configured public key does not belong to the private key.
	ReasonKeyMismatch = "KeyMismatch"
	// ReasonKeyMissing: the Secret of spec.ssh.secretRef does not exist, or has no private key.
	ReasonKeyMissing = "KeyMissing"
	// ReasonInlineKey: the spec contains a private key.
	ReasonInlineKey = "InlineKey"
	// ReasonClientsHoldKey: clients of an earlier version have the manager's private key.
	ReasonClientsHoldKey = "ClientsHoldKey"
	// ReasonPublicKeyUnusable: a configured public key is not one.
	ReasonPublicKeyUnusable = "PublicKeyUnusable"
	// ReasonBound: every claim is bound and has its desired size.
	ReasonBound = "Bound"
	// ReasonClaimsPending: a claim has no volume yet.
	ReasonClaimsPending = "ClaimsPending"
	// ReasonGrowing: volumes grow.
	ReasonGrowing = "Growing"
	// ReasonCannotGrow: the class of a claim does not allow volumes to grow.
	ReasonCannotGrow = "CannotGrow"
	// ReasonClaimDiffers: an existing claim is of another class.
	ReasonClaimDiffers = "ClaimDiffers"
	// ReasonClaimLost: a claim has lost its volume.
	ReasonClaimLost = "ClaimLost"
	// ReasonClaimTerminating: a claim is being deleted, and disappears with the pod that uses it.
	ReasonClaimTerminating = "ClaimTerminating"
	// ReasonClaimRemade: every claim is bound, and one was deleted and recreated within the last day.
	ReasonClaimRemade = "ClaimRemade"
	// ReasonAllReady: manager and clients are ready.
	ReasonAllReady = "AllReady"
)

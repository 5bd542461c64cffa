// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Condition types of a Diva.
const (
	// DivaReady sums up the others: it is False with the first blocking cause.
	DivaReady = "Ready"
	// DivaChildrenReady tells whether all that belongs to the Diva is as declared.
	DivaChildrenReady = "ChildrenReady"
	// DivaSSHReady tells whether the manager can log in to the clients, and how far a change
	// of the key pair has come.
	DivaSSHReady = "SSHReady"
	// DivaStorageReady tells whether every claim is bound and as large as asked for.
	DivaStorageReady = "StorageReady"
	// DivaClientsReady tells whether all clients run what the spec says and are ready.
	DivaClientsReady = "ClientsReady"
	// DivaManagerReady tells whether the manager runs what the spec says and is ready.
	DivaManagerReady = "ManagerReady"
	// DivaKeyWarning is True while keys in the spec are of no use, or stand where many can
	// read them; else it is absent. It stands in nobody's way.
	DivaKeyWarning = "KeyWarning"
)

// Reasons of a Diva's conditions, beside those that every kind and the application kinds
// share.
const (
	// ReasonKeysInPlace: manager and clients have the keys that they are to have.
	ReasonKeysInPlace = "KeysInPlace"
	// ReasonRotating: another key pair is taken into use; logins go on meanwhile.
	ReasonRotating = "Rotating"
	// ReasonKeyLost: the Secret with the private key was deleted; another pair takes its place.
	ReasonKeyLost = "KeyLost"
	// ReasonKeyUnusable: the private key that is given cannot be used.
	ReasonKeyUnusable = "KeyUnusable"
	// ReasonKeyMismatch: the public key that is given does not belong to the private key.
	ReasonKeyMismatch = "KeyMismatch"
	// ReasonKeyMissing: the Secret of spec.ssh.secretRef is not there, or has no private key.
	ReasonKeyMissing = "KeyMissing"
	// ReasonInlineKey: a private key stands in the spec.
	ReasonInlineKey = "InlineKey"
	// ReasonPublicKeyUnusable: a public key that is given is none.
	ReasonPublicKeyUnusable = "PublicKeyUnusable"
	// ReasonBound: every claim is bound and as large as asked for.
	ReasonBound = "Bound"
	// ReasonClaimsPending: a claim has no volume yet.
	ReasonClaimsPending = "ClaimsPending"
	// ReasonGrowing: volumes grow.
	ReasonGrowing = "Growing"
	// ReasonCannotGrow: the class of a claim does not let volumes grow.
	ReasonCannotGrow = "CannotGrow"
	// ReasonClaimDiffers: a claim that was there before is of another class.
	ReasonClaimDiffers = "ClaimDiffers"
	// ReasonClaimLost: a claim has lost its volume.
	ReasonClaimLost = "ClaimLost"
	// ReasonClaimTerminating: a claim is being deleted, and goes with the pod that uses it.
	ReasonClaimTerminating = "ClaimTerminating"
	// ReasonClaimRemade: every claim is bound, and one was deleted and made anew within a day.
	ReasonClaimRemade = "ClaimRemade"
	// ReasonAllReady: manager and clients are ready.
	ReasonAllReady = "AllReady"
)

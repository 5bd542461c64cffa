// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package common holds what the APIs of all kinds share: the annotations and
// labels under opcrew.io that users and other tools see, and the reasons that
// conditions of every kind can have.
package common

// Name is the operator's name: its field manager, and the value of the label
// app.kubernetes.io/managed-by on all that it makes.
const Name = "opcrew"

// Annotations that a user sets on an object of any kind.
const (
	// PausedAnnotation, with any value but "false", makes the operator look and report, but change nothing.
	PausedAnnotation = "opcrew.io/paused"
	// DryRunAnnotation, with any value but "false", makes the kinds that can do so show what a change of the
	// spec would do, instead of doing it.
	DryRunAnnotation = "opcrew.io/dry-run"
)

// IsSet tells whether an annotation that holds changes back is there. Whatever its value,
// it counts unless it says "false": who writes "yes" wants to be held back too.
func IsSet(annotations map[string]string, key string) bool {
	value, ok := annotations[key]
	return ok && value != "false"
}

// Labels and annotations that the operator sets on what it makes.
const (
	// WatchLabel, with the value "true" on a Secret of the user, has the objects that refer to it look at
	// once when it changes; those of others are read when something else happens, and hourly.
	WatchLabel = "opcrew.io/watch"
	// ManagedByLabel is the recommended label that tells who made an object.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// OwnerLabel carries the UID of the object for which a child was made. It recognises a
	// child whose owner reference somebody took away, or that cannot have one.
	OwnerLabel = "opcrew.io/owner"
	// AppliedAnnotation carries a hash of all that the operator declares of an object.
	AppliedAnnotation = "opcrew.io/applied"
	// PinnedAnnotation tells for which wishes of the user a pod template was made, so that
	// an upgrade of the operator alone changes none.
	PinnedAnnotation = "opcrew.io/pinned"
	// KeptForAnnotation stands on what outlives its owner, such as a claim with data, and names
	// the kind and name of the object that may have it again.
	KeptForAnnotation = "opcrew.io/kept-for"
)

// Reasons that conditions of every kind can have.
const (
	// ReasonPending: the operator has not looked at the object yet.
	ReasonPending = "Pending"
	// ReasonPaused: changes are held back by PausedAnnotation, or by a field of the spec that pauses the object.
	ReasonPaused = "Paused"
	// ReasonReadFailed: something could not be read, so nothing is known of it.
	ReasonReadFailed = "ReadFailed"
	// ReasonNameTaken: an object of a child's name is there and belongs to somebody else.
	ReasonNameTaken = "NameTaken"
	// ReasonContested: somebody keeps changing back what the operator declares.
	ReasonContested = "Contested"
	// ReasonRefused: the API server refused a write; the message carries its words.
	ReasonRefused = "Refused"
	// ReasonApplying: children are being put in place.
	ReasonApplying = "Applying"
	// ReasonAsDeclared: every child is as declared.
	ReasonAsDeclared = "AsDeclared"
	// ReasonCreating: what an object stands for is coming up for the first time.
	ReasonCreating = "Creating"
	// ReasonUpdating: what exists is being brought to what the spec says.
	ReasonUpdating = "Updating"
	// ReasonDeleting: the object is going away and is being cleaned up after.
	ReasonDeleting = "Deleting"
)

// Reasons of the conditions of application kinds, beside those of every kind.
const (
	// ReasonAllPodsReady: all pods run what the spec says and are ready.
	ReasonAllPodsReady = "AllPodsReady"
	// ReasonScaledToZero: there are to be no pods.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonPodsNotReady: a pod is not ready and may need a hand.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonPodsMissing: a quota or an admission rule refuses pods.
	ReasonPodsMissing = "PodsMissing"
	// ReasonInvalidImage: the image is no image reference; what runs goes on.
	ReasonInvalidImage = "InvalidImage"
	// ReasonServing: at least one pod serves users.
	ReasonServing = "Serving"
	// ReasonNotServing: no pod serves users.
	ReasonNotServing = "NotServing"
	// ReasonNodePortTaken: a nodePort belongs to another Service.
	ReasonNodePortTaken = "NodePortTaken"
)

// OnItsWay tells whether a reason says only that the operator is at work, which is
// nothing to warn of.
func OnItsWay(reason string) bool {
	switch reason {
	case ReasonApplying, ReasonCreating, ReasonUpdating, ReasonDeleting, "Growing", "VolumesGrowing":
		return true
	}
	return false
}

// IsNews tells whether a reason for which Ready is False says only how far something has come,
// which is nothing to warn of either.
func IsNews(reason string) bool {
	switch reason {
	case "Waiting", "Running", "Restoring", "ScalingUp", "ScalingDown":
		return true
	}
	return OnItsWay(reason)
}

// Conditions of application kinds.
const (
	// ConditionRolledOut tells whether all pods run what the spec says and are ready.
	ConditionRolledOut = "RolledOut"
	// ConditionAvailable tells whether users are served by at least one pod, old or new.
	ConditionAvailable = "Available"
)

// ConditionLeftovers is True while something hangs that harms no user, such as a pod on a node that does not answer;
// else it is absent. Ready does not go by it.
const ConditionLeftovers = "Leftovers"

// ReasonPodStuck of ConditionLeftovers: a pod that nothing waits for is being deleted and does not go.
const ReasonPodStuck = "PodStuck"

// ConditionPlacement tells which members share a node or a zone (label topology.kubernetes.io/zone), and what the loss
// of one of these costs. It is False where two or more are together whose loss does harm. Ready does not go by it.
const ConditionPlacement = "Placement"

// Reasons of ConditionPlacement.
const (
	// ReasonSpread: no node and no zone has two or more members whose loss does harm.
	ReasonSpread = "Spread"
	// ReasonSharedNode and ReasonSharedZone: one has; the message says what its loss costs.
	ReasonSharedNode = "SharedNode"
	ReasonSharedZone = "SharedZone"
)

// ConditionPaused is True while the object is annotated with PausedAnnotation, or paused by a field of its spec;
// else it is absent.
const ConditionPaused = "Paused"

// ConditionFieldsIgnored is True while the spec has fields that are accepted and have no effect; it
// names them. Else it is absent.
const ConditionFieldsIgnored = "FieldsIgnored"

// ReasonNoEffect of ConditionFieldsIgnored: the fields are kept for manifests of other operators, or
// another field would have to be set, or left out, for them to count.
const ReasonNoEffect = "NoEffect"

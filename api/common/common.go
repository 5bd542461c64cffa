// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package common holds what the APIs of all kinds share: the annotations and
// labels under opcrew.io that users and other tools see, condition reasons, and the
// types of fields. What only one kind has belongs in the package of its API.
package common

// Name is the operator's name: its field manager, and the value of the label
// app.kubernetes.io/managed-by on every object that it creates.
const Name = "opcrew"

// Annotations that a user sets on an object of any kind.
const (
	// PausedAnnotation, with any value but "false", makes the operator observe and report, but change nothing.
	PausedAnnotation = "opcrew.io/paused"
	// DryRunAnnotation, with any value but "false", makes a kind that supports it show what a change of the
	// spec would do, instead of doing it.
	DryRunAnnotation = "opcrew.io/dry-run"
)

// IsSet reports whether an annotation that holds changes back is set. Every value except "false"
// counts: a user who writes "yes" also wants changes held back.
func IsSet(annotations map[string]string, key string) bool {
	value, ok := annotations[key]
	return ok && value != "false"
}

// Labels and annotations that the operator sets on the objects that it creates.
const (
	// WatchLabel, with the value "true" on a user's Secret, makes the objects that refer to the Secret
	// react to a change at once. A Secret without the label is read on other events, and hourly.
	WatchLabel = "opcrew.io/watch"
	// ManagedByLabel is the recommended Kubernetes label that names the creator of an object.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// OwnerLabel carries the UID of the object for which a child was created. It identifies a
	// child that lost its owner reference or cannot have one.
	OwnerLabel = "opcrew.io/owner"
	// AppliedAnnotation carries a hash of the fields that the operator declares for an object.
	AppliedAnnotation = "opcrew.io/applied"
	// PinnedAnnotation records the spec for which a pod template was built, so that an
	// upgrade of the operator alone changes no template.
	PinnedAnnotation = "opcrew.io/pinned"
	// RequesterAnnotation records who asked for what an object refers to: the user, its UID and its groups, as JSON. The API
	// server sets it, and users cannot choose its value.
	RequesterAnnotation = "opcrew.io/requester"
	// KeptForAnnotation is set on an object that outlives its owner, such as a claim with data. It
	// holds the kind and name of the object that may adopt it.
	KeptForAnnotation = "opcrew.io/kept-for"
)

// Reasons that conditions of every kind can have.
const (
	// ReasonPending: the operator has not reconciled the object yet.
	ReasonPending = "Pending"
	// ReasonPaused: PausedAnnotation or a field of the spec holds changes back.
	ReasonPaused = "Paused"
	// ReasonReadFailed: a read failed, so the state is unknown.
	ReasonReadFailed = "ReadFailed"
	// ReasonNameTaken: an object with the name of a child exists and belongs to another owner.
	ReasonNameTaken = "NameTaken"
	// ReasonContested: another manager keeps reverting a field that the operator declares.
	ReasonContested = "Contested"
	// ReasonRefused: the API server refused a write; the message quotes it.
	ReasonRefused = "Refused"
	// ReasonPodSecurityViolation: a pod would break its Pod Security Standard, and is not written; the message names
	// the rule, the field and what to write instead.
	ReasonPodSecurityViolation = "PodSecurityViolation"
	// ReasonRequesterMayNot: the user who asked for the object may not use something that it refers to.
	ReasonRequesterMayNot = "RequesterMayNot"
	// ReasonRequesterUnknown: the object refers to something, and does not record which user asked for that.
	ReasonRequesterUnknown = "RequesterUnknown"
	// ReasonApplying: children are being applied.
	ReasonApplying = "Applying"
	// ReasonAsDeclared: every child is as declared.
	ReasonAsDeclared = "AsDeclared"
	// ReasonCreating: the workload is starting for the first time.
	ReasonCreating = "Creating"
	// ReasonUpdating: the workload is being changed to match the spec.
	ReasonUpdating = "Updating"
	// ReasonDeleting: the object is being deleted, and the operator cleans up.
	ReasonDeleting = "Deleting"
)

// Reasons of the conditions of application kinds, in addition to those of every kind.
const (
	// ReasonAllPodsReady: all pods match the spec and are ready.
	ReasonAllPodsReady = "AllPodsReady"
	// ReasonScaledToZero: the desired number of pods is 0.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonPodsNotReady: a pod is not ready and may need a user's help.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonPodsMissing: a quota or an admission rule refuses pods.
	ReasonPodsMissing = "PodsMissing"
	// ReasonInvalidImage: the image is not a valid reference; running pods continue.
	ReasonInvalidImage = "InvalidImage"
	// ReasonServing: at least one pod serves users.
	ReasonServing = "Serving"
	// ReasonNotServing: no pod serves users.
	ReasonNotServing = "NotServing"
	// ReasonNodePortTaken: a nodePort belongs to another Service.
	ReasonNodePortTaken = "NodePortTaken"
)

// OnItsWay reports whether a reason means only that the operator is at work, which
// needs no warning.
func OnItsWay(reason string) bool {
	switch reason {
	case ReasonApplying, ReasonCreating, ReasonUpdating, ReasonDeleting, "Growing", "VolumesGrowing":
		return true
	}
	return false
}

// IsNews reports whether a reason for which Ready is False only describes progress, which
// needs no warning either.
func IsNews(reason string) bool {
	switch reason {
	case "Waiting", "Running", "Restoring", "ScalingUp", "ScalingDown":
		return true
	}
	return OnItsWay(reason)
}

// Conditions of application kinds.
const (
	// ConditionRolledOut reports whether all pods match the spec and are ready.
	ConditionRolledOut = "RolledOut"
	// ConditionAvailable reports whether at least one pod, old or new, serves users.
	ConditionAvailable = "Available"
)

// ConditionLeftovers is True while a leftover exists, such as a pod on a node that does not answer. Otherwise it is
// absent. It does not affect Ready.
const ConditionLeftovers = "Leftovers"

// ReasonPodStuck of ConditionLeftovers: a pod that nothing waits for is stuck in deletion.
const ReasonPodStuck = "PodStuck"

// ConditionPlacement shows which members share a node or a zone (label topology.kubernetes.io/zone), and what the loss
// of that node or zone costs. It is False while losing one does harm. It does not affect Ready.
const ConditionPlacement = "Placement"

// Reasons of ConditionPlacement.
const (
	// ReasonSpread: no node and no zone has two or more members whose joint loss does harm.
	ReasonSpread = "Spread"
	// ReasonSharedNode and ReasonSharedZone: a node or zone has; the message says what its loss costs.
	ReasonSharedNode = "SharedNode"
	ReasonSharedZone = "SharedZone"
)

// ConditionPaused is True while PausedAnnotation or a field of the spec pauses the object. Otherwise it is absent.
const ConditionPaused = "Paused"

// ConditionFieldsIgnored is True while the spec has fields that are accepted and have no effect; the
// message names them. Otherwise it is absent.
const ConditionFieldsIgnored = "FieldsIgnored"

// ReasonNoEffect of ConditionFieldsIgnored: the fields exist only for manifests of other operators, or
// take effect only when another field is set or left out.
const ReasonNoEffect = "NoEffect"

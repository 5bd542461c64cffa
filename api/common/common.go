// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package common contains what the APIs of all kinds share: annotations and labels under opcrew.io that users and other
// tools see, condition types and reasons, and field types. What only one kind needs is in the API package of that kind.
package common

// Name is the operator's name. The operator uses it as its field manager, and as the value of the label
// app.kubernetes.io/managed-by on every object that it creates.
const Name = "opcrew"

// Annotations that users can set on all of opcrew's objects.
const (
	// PausedAnnotation, with any value but "false", pauses an object: the operator observes it and reports its status,
	// but changes nothing.
	PausedAnnotation = "opcrew.io/paused"
	// DryRunAnnotation, with any value but "false", makes the operator show in the status what a change of the spec
	// would do, without doing it. Only some kinds support it.
	DryRunAnnotation = "opcrew.io/dry-run"
)

// IsSet reports whether an annotation such as PausedAnnotation is set. Every value except "false" counts as set: a user
// who writes "yes" also wants the operator to make no changes.
func IsSet(annotations map[string]string, key string) bool {
	value, ok := annotations[key]
	return ok && value != "false"
}

// Labels and annotations on the objects that the operator creates, and on the Secrets that users provide.
const (
	// WatchLabel, with the value "true" on a user's Secret, makes the operator react at once when the Secret changes.
	// Without the label the operator reads the Secret every hour, and when an object that refers to it changes.
	WatchLabel = "opcrew.io/watch"
	// ManagedByLabel is the recommended Kubernetes label that names the creator of an object.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// OwnerLabel contains the UID of the object for which the operator created a child. It identifies a child that has
	// lost its owner reference or cannot have one.
	OwnerLabel = "opcrew.io/owner"
	// AppliedAnnotation contains a hash of the fields that the operator sets on an object.
	AppliedAnnotation = "opcrew.io/applied"
	// PinnedAnnotation records the spec for which the operator built a pod template. While the spec is the same, an
	// upgrade of the operator does not change the template.
	PinnedAnnotation = "opcrew.io/pinned"
	// RequesterAnnotation records the requester: the user who named another object, such as a Secret, in this one. Its
	// value is JSON with user name, UID and groups. The API server sets it, and users cannot choose its value.
	RequesterAnnotation = "opcrew.io/requester"
	// KeptForAnnotation is on an object that outlives its owner, such as a claim with data. Its value is the kind and
	// name of the object that may adopt the kept object.
	KeptForAnnotation = "opcrew.io/kept-for"
)

// Condition reasons that all kinds share.
const (
	// ReasonPending: the operator has not reconciled the object yet.
	ReasonPending = "Pending"
	// ReasonPaused: PausedAnnotation or a field of the spec pauses the object, so that the operator changes nothing.
	ReasonPaused = "Paused"
	// ReasonReadFailed: the operator could not read an object or a store, so the state is unknown.
	ReasonReadFailed = "ReadFailed"
	// ReasonNameTaken: the operator cannot create a child, because an object of another owner has the same name.
	ReasonNameTaken = "NameTaken"
	// ReasonContested: another manager keeps reverting a field that the operator sets.
	ReasonContested = "Contested"
	// ReasonRefused: the API server refused a write of the operator. The message quotes the refusal.
	ReasonRefused = "Refused"
	// ReasonPodSecurityViolation: a pod would violate the Pod Security Standard, so the operator does not create it.
	// The message names the rule and the field, and says what to write instead.
	ReasonPodSecurityViolation = "PodSecurityViolation"
	// ReasonRequesterMayNot: the requester has no right to use something that the object refers to, such as a Secret.
	ReasonRequesterMayNot = "RequesterMayNot"
	// ReasonRequesterUnknown: the object refers to something, such as a Secret, and does not record which user named
	// it.
	ReasonRequesterUnknown = "RequesterUnknown"
	// ReasonApplying: the operator is applying the object's children.
	ReasonApplying = "Applying"
	// ReasonAsDeclared: every child has the fields that the operator declares for it.
	ReasonAsDeclared = "AsDeclared"
	// ReasonCreating: the workload is starting for the first time.
	ReasonCreating = "Creating"
	// ReasonUpdating: the operator is changing the workload to match the spec.
	ReasonUpdating = "Updating"
	// ReasonDeleting: the object is being deleted, and the operator is cleaning up.
	ReasonDeleting = "Deleting"
)

// Condition reasons that the application kinds, such as AppService, share, in addition to the reasons that all kinds
// share.
const (
	// ReasonAllPodsReady: all pods match the spec and are ready.
	ReasonAllPodsReady = "AllPodsReady"
	// ReasonScaledToZero: the desired number of pods is 0.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonPodsNotReady: a pod is not ready, and may need help from a user.
	ReasonPodsNotReady = "PodsNotReady"
	// ReasonPodsMissing: Kubernetes refuses to create pods, because of a quota or an admission rule.
	ReasonPodsMissing = "PodsMissing"
	// ReasonInvalidImage: spec.image is not a valid image reference. Running pods continue.
	ReasonInvalidImage = "InvalidImage"
	// ReasonServing: at least one pod is ready and serves users.
	ReasonServing = "Serving"
	// ReasonNotServing: no pod is ready to serve users.
	ReasonNotServing = "NotServing"
	// ReasonNodePortTaken: another Service uses a nodePort of the spec.
	ReasonNodePortTaken = "NodePortTaken"
)

// OnItsWay reports whether a condition reason only means that the operator is working on a change. Such a reason needs
// no Warning event.
func OnItsWay(reason string) bool {
	switch reason {
	case ReasonApplying, ReasonCreating, ReasonUpdating, ReasonDeleting, "Growing", "VolumesGrowing":
		return true
	}
	return false
}

// IsNews reports whether a condition reason only describes progress, although Ready is False. Such a reason needs no
// Warning event.
func IsNews(reason string) bool {
	switch reason {
	case "Waiting", "Running", "Restoring", "ScalingUp", "ScalingDown":
		return true
	}
	return OnItsWay(reason)
}

// Condition types of the application kinds, such as AppService.
const (
	// ConditionRolledOut reports whether all pods match the spec and are ready.
	ConditionRolledOut = "RolledOut"
	// ConditionAvailable reports whether at least one pod serves users, with either the current or an earlier template.
	ConditionAvailable = "Available"
)

// ConditionLeftovers is True while a leftover exists: an object that is no longer needed, such as a pod on a node that
// does not respond. Otherwise the condition is absent. The condition does not affect Ready.
const ConditionLeftovers = "Leftovers"

// ReasonPodStuck is a reason of ConditionLeftovers: a pod that the operator no longer needs is stuck in deletion.
const ReasonPodStuck = "PodStuck"

// ConditionPlacement shows which members share a node or a zone (label topology.kubernetes.io/zone), and what happens
// if that node or zone fails. The condition is False while one such failure would do harm. The condition does not
// affect Ready.
const ConditionPlacement = "Placement"

// Reasons of ConditionPlacement.
const (
	// ReasonSpread: no single node or zone runs so many members that its failure would do harm.
	ReasonSpread = "Spread"
	// ReasonSharedNode and ReasonSharedZone: the failure of a node or zone with several members would do harm. The
	// message says what it would cost.
	ReasonSharedNode = "SharedNode"
	ReasonSharedZone = "SharedZone"
)

// ConditionPaused is True while PausedAnnotation or a field of the spec pauses the object. Otherwise the condition is
// absent.
const ConditionPaused = "Paused"

// ConditionFieldsIgnored is True while the spec sets fields that have no effect. The message names the fields.
// Otherwise the condition is absent.
const ConditionFieldsIgnored = "FieldsIgnored"

// ReasonNoEffect is a reason of ConditionFieldsIgnored: a field exists only so that manifests of other operators are
// accepted, or the field takes effect only if another field is set or removed.
const ReasonNoEffect = "NoEffect"

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Values of the fields compaction.mode and noSpace in an Upkeep.
const (
	// CompactionPeriodic removes history by its age, and CompactionRevision by its number of revisions.
	CompactionPeriodic = "Periodic"
	CompactionRevision = "Revision"
	// NoSpaceHeal makes the operator free space when a member has reached its space quota, and NoSpaceReport makes it
	// only report that.
	NoSpaceHeal   = "Heal"
	NoSpaceReport = "Report"
)

// Defaults of an Upkeep. The operator applies them when it reads a spec, and does not store them in the object.
const (
	DefaultKeepRevisions = 1000
	// DefaultFreePercent and DefaultScheduledFreePercent are the share of a member's file, in percent, that must be
	// free before the member is defragmented: the first without a schedule, the second with one. DefaultMinimumSize is
	// the minimum size of the file in bytes.
	DefaultFreePercent          = 50
	DefaultScheduledFreePercent = 10
	DefaultMinimumSize          = 64 << 20
)

// Upkeep sets the maintenance of a cluster's data.
type Upkeep struct {
	// compaction makes etcd remove its history of old revisions, which grows with every write. Without it the history
	// is kept until a client compacts it. The Kubernetes API server is such a client.
	// +optional
	Compaction *Compaction `json:"compaction,omitempty"`

	// defragment releases free space in the members' files, in one member after another, the leader last. Without it
	// the files never shrink.
	// +optional
	Defragment *Defragment `json:"defragment,omitempty"`

	// noSpace is what the operator does when a member reaches its space quota (alarm NOSPACE), so that etcd refuses
	// writes. Heal (the default) compacts the revision history to keepRevisions revisions, and defragments the members.
	// Report only reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self in ['Heal', 'Report']",message="noSpace must be Heal or Report"
	NoSpace string `json:"noSpace,omitempty"`

	// keepRevisions is how many revisions are kept when noSpace is Heal and a member is out of space, 0 or more;
	// default 1000. A client that watches or reads from an earlier revision has to start again.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 0",message="keepRevisions must be a number of revisions, 0 or more"
	KeepRevisions *int64 `json:"keepRevisions,omitempty"`

	// corruptionCheck is how often members compare their data, from 1m to 720h, such as 4h. Each check reads all data
	// once. A member whose data differs from that of the majority is replaced. Without it there are no checks.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('720h')",message="corruptionCheck must be a time from 1m to 720h, such as 4h"
	CorruptionCheck string `json:"corruptionCheck,omitempty"`
}

// Compaction makes etcd remove its history of old revisions.
// +kubebuilder:validation:XValidation:rule="self.mode == 'Periodic' ? self.retention.matches('^([0-9]{1,6}(s|m|h))+$') : self.retention.matches('^[1-9][0-9]{0,17}$')",message="compaction: retention must be a time such as 1h with mode Periodic, and a number of revisions such as 1000 with mode Revision"
type Compaction struct {
	// mode is Periodic, which keeps the history of a time span, or Revision, which keeps a number of revisions.
	// +required
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self in ['Periodic', 'Revision']",message="compaction: mode must be Periodic or Revision"
	Mode string `json:"mode"`
	// retention is how much history is kept: a time such as 1h with mode Periodic, or a number of revisions such as
	// 1000 with mode Revision.
	// +required
	// +kubebuilder:validation:MaxLength=20
	Retention string `json:"retention"`
}

// Defragment releases free space in the members' files. A defragmentation takes some seconds per GB. Meanwhile the
// member serves no clients.
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || !has(self.timeZone)",message="defragment: timeZone needs schedule; set schedule too, or remove timeZone"
type Defragment struct {
	// schedule is when members may be defragmented, in cron format, such as "0 3 * * 0" for Sundays at 3:00. All
	// members that exceed the limits below are then defragmented within an hour. Without it a member is defragmented as
	// soon as it exceeds the limits.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	Schedule string `json:"schedule,omitempty"`
	// timeZone is the time zone of schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`
	// aboveFreePercent is how much of a member's file, in percent, must be free before the member is defragmented, from
	// 5 to 95; default 50, or 10 with a schedule.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 5 && self <= 95",message="aboveFreePercent must be from 5 to 95"
	AboveFreePercent int32 `json:"aboveFreePercent,omitempty"`
	// minimumSize is how large a member's file must be before the member is defragmented; default 64Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).startsWith('-')",message="minimumSize must be a size, 0 or more, such as 64Mi"
	MinimumSize *resource.Quantity `json:"minimumSize,omitempty"`
}

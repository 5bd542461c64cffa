// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// What an Upkeep says.
const (
	// CompactionPeriodic and CompactionRevision are by what history is thrown away: its age, or how much there is.
	CompactionPeriodic = "Periodic"
	CompactionRevision = "Revision"
	// NoSpaceHeal and NoSpaceReport are what is done when members are out of space.
	NoSpaceHeal   = "Heal"
	NoSpaceReport = "Report"
)

// Defaults of an Upkeep.
const (
	DefaultKeepRevisions = 1000
	// DefaultFreePercent is that of a cluster whose members are defragmented at any time, and
	// DefaultScheduledFreePercent that of one where they are at certain times.
	DefaultFreePercent          = 50
	DefaultScheduledFreePercent = 10
	DefaultMinimumSize          = 64 << 20
)

// Upkeep is what is done to the data of a cluster so that it goes on.
type Upkeep struct {
	// compaction has etcd itself throw history away, which every write adds to. Without it history is kept
	// until a client compacts it, as Kubernetes' API server does.
	// +optional
	Compaction *Compaction `json:"compaction,omitempty"`

	// defragment has members give space back that is free, one at a time, the leader last.
	// +optional
	Defragment *Defragment `json:"defragment,omitempty"`

	// noSpace is what is done when the data of a member is as large as it may be (alarm NOSPACE), and writes
	// are refused. Heal, the default, throws history away, but for keepRevisions, if there is much of it, and
	// defragments the members. Report only tells.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self in ['Heal', 'Report']",message="noSpace is Heal or Report"
	NoSpace string `json:"noSpace,omitempty"`

	// keepRevisions is how much of the history is kept when members are out of space; default 1000. A client
	// that watches, or reads, from an earlier revision has to begin anew.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 0",message="keepRevisions is a number of revisions, 0 or more"
	KeepRevisions *int64 `json:"keepRevisions,omitempty"`

	// corruptionCheck is how often members compare their data, from 1m; without it they do not. Each time
	// all data is read once. A member whose data is not that of the majority is replaced.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('720h')",message="corruptionCheck is a time from 1m to 720h, such as 4h"
	CorruptionCheck string `json:"corruptionCheck,omitempty"`
}

// Compaction has etcd throw history away.
// +kubebuilder:validation:XValidation:rule="self.mode == 'Periodic' ? self.retention.matches('^([0-9]{1,6}(s|m|h))+$') : self.retention.matches('^[1-9][0-9]{0,17}$')",message="compaction: retention is a time such as 1h with mode Periodic, and a number of revisions such as 1000 with mode Revision"
type Compaction struct {
	// mode is Periodic, which keeps the history of a time, or Revision, which keeps a number of revisions.
	// +required
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self in ['Periodic', 'Revision']",message="compaction: mode is Periodic or Revision"
	Mode string `json:"mode"`
	// retention is how much is kept: a time such as 1h, or a number of revisions such as 1000.
	// +required
	// +kubebuilder:validation:MaxLength=20
	Retention string `json:"retention"`
}

// Defragment has members give space back. While it does, which takes seconds a GB, a member answers nobody.
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || !has(self.timeZone)",message="defragment: timeZone is for schedule: set schedule too, or leave timeZone out"
type Defragment struct {
	// schedule is when members may be defragmented, in cron's format, such as "0 3 * * 0"; within an hour from
	// then all are that exceed the limits below. Without it they are whenever they do.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	Schedule string `json:"schedule,omitempty"`
	// timeZone of the schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`
	// aboveFreePercent is how much of a member's data has to be free, from 5 to 95; default 50, with a schedule 10.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 5 && self <= 95",message="aboveFreePercent is a share from 5 to 95"
	AboveFreePercent int32 `json:"aboveFreePercent,omitempty"`
	// minimumSize is how much a member's data has to take; default 64Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).startsWith('-')",message="minimumSize is how much data takes, 0 or more, such as 64Mi"
	MinimumSize *resource.Quantity `json:"minimumSize,omitempty"`
}

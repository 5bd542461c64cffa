// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Values of fields of an Upkeep.
const (
	// CompactionPeriodic and CompactionRevision compact the history by its age, or by its number of revisions.
	CompactionPeriodic = "Periodic"
	CompactionRevision = "Revision"
	// NoSpaceHeal and NoSpaceReport are the reactions to members that are out of space.
	NoSpaceHeal   = "Heal"
	NoSpaceReport = "Report"
)

// Defaults of an Upkeep.
const (
	DefaultKeepRevisions = 1000
	// DefaultFreePercent applies to members that are defragmented at any time,
	// DefaultScheduledFreePercent to members that are defragmented on a schedule.
	DefaultFreePercent          = 50
	DefaultScheduledFreePercent = 10
	DefaultMinimumSize          = 64 << 20
)

// Upkeep is the maintenance of a cluster's data.
type Upkeep struct {
	// compaction makes etcd discard history, which grows with every write. Without it history is kept until a
	// client compacts it, as a Kubernetes API server does.
	// +optional
	Compaction *Compaction `json:"compaction,omitempty"`

	// defragment releases free space in the members' files, one member at a time, the leader last.
	// +optional
	Defragment *Defragment `json:"defragment,omitempty"`

	// noSpace is the reaction when the data of a member reaches its quota (alarm NOSPACE), and etcd refuses
	// writes. Heal, the default, compacts long histories down to keepRevisions, and defragments the members.
	// Report only reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self in ['Heal', 'Report']",message="noSpace must be Heal or Report"
	NoSpace string `json:"noSpace,omitempty"`

	// keepRevisions is how many revisions are kept when members are out of space; default 1000. A client
	// that watches or reads from an earlier revision has to start again.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 0",message="keepRevisions must be a number of revisions, 0 or more"
	KeepRevisions *int64 `json:"keepRevisions,omitempty"`

	// corruptionCheck is how often members compare their data, from 1m; without it they do not. Each check
	// reads all data once. A member whose data differs from the majority's is replaced.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}(s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('720h')",message="corruptionCheck must be a time from 1m to 720h, such as 4h"
	CorruptionCheck string `json:"corruptionCheck,omitempty"`
}

// Compaction makes etcd discard history.
// +kubebuilder:validation:XValidation:rule="self.mode == 'Periodic' ? self.retention.matches('^([0-9]{1,6}(s|m|h))+$') : self.retention.matches('^[1-9][0-9]{0,17}$')",message="compaction: retention must be a time such as 1h with mode Periodic, and a number of revisions such as 1000 with mode Revision"
type Compaction struct {
	// mode is Periodic, which keeps the history of a period, or Revision, which keeps a number of revisions.
	// +required
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self in ['Periodic', 'Revision']",message="compaction: mode must be Periodic or Revision"
	Mode string `json:"mode"`
	// retention is how much is kept: a period such as 1h, or a number of revisions such as 1000.
	// +required
	// +kubebuilder:validation:MaxLength=20
	Retention string `json:"retention"`
}

// Defragment releases free space in the members' files. A member answers no client meanwhile, for seconds per GB.
// +kubebuilder:validation:XValidation:rule="has(self.schedule) || !has(self.timeZone)",message="defragment: timeZone needs schedule: set schedule too, or leave timeZone out"
type Defragment struct {
	// schedule is when members may be defragmented, in cron format, such as "0 3 * * 0": within the next hour
	// all are that exceed the limits below. Without it a member is defragmented whenever it exceeds them.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	Schedule string `json:"schedule,omitempty"`
	// timeZone of the schedule, such as Europe/Berlin; default UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone,omitempty"`
	// aboveFreePercent is how much of a member's file must be free, from 5 to 95; default 50, with a schedule 10.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self >= 5 && self <= 95",message="aboveFreePercent must be from 5 to 95"
	AboveFreePercent int32 `json:"aboveFreePercent,omitempty"`
	// minimumSize is how large a member's file must be; default 64Mi.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!string(self).startsWith('-')",message="minimumSize must be a size, 0 or more, such as 64Mi"
	MinimumSize *resource.Quantity `json:"minimumSize,omitempty"`
}

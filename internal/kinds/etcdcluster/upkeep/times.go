// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package upkeep

import (
	"cmp"
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
	"github.com/opcrew/opcrew/internal/schedule"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// windowLength is how long after each scheduled time members may be defragmented.
const windowLength = time.Hour

// window reports whether members may be defragmented now, and the time until the next window opens. wait is 0 if there
// is no next window or no valid schedule.
func (in *Input) window() (open bool, wait time.Duration) {
	spec := in.Spec.Defragment
	if spec == nil || spec.Schedule == "" {
		return spec != nil, 0
	}
	times, err := schedule.Parse(spec.Schedule, spec.TimeZone)
	if err != nil {
		return false, 0
	}
	if next := times.Next(in.Now); !next.IsZero() {
		wait = next.Sub(in.Now)
	}
	return !times.Latest(in.Now.Add(-windowLength), in.Now).IsZero(), wait
}

// NextLook returns the time until the next reconcile for upkeep: until the next defragmentation window opens, or the
// given time (soon) while an alarm is raised. This reconcile is necessary, because new sizes and revisions alone do not
// cause a reconcile.
func NextLook(in *Input, soon time.Duration) time.Duration {
	if len(in.View.Alarms()) > 0 {
		return soon
	}
	_, wait := in.window()
	return wait
}

// Waste returns how much of a member's data must be free for a defragmentation. The zero Waste means that the spec
// requests no defragmentation.
func Waste(spec *etcdv1beta2.Upkeep) etcd.Waste {
	asked := spec.Defragment
	if asked == nil {
		return etcd.Waste{}
	}
	percent := int32(etcdv1beta2.DefaultFreePercent)
	if asked.Schedule != "" {
		percent = etcdv1beta2.DefaultScheduledFreePercent
	}
	out := etcd.Waste{Percent: int(cmp.Or(asked.AboveFreePercent, percent)), Size: etcdv1beta2.DefaultMinimumSize}
	if asked.MinimumSize != nil {
		out.Size = asked.MinimumSize.Value()
	}
	return out
}

// Invalid returns the problem with spec.upkeep; empty if there is none. The problem blocks nothing else: the
// replacement of a lost member must not wait until a schedule is corrected.
func Invalid(spec *etcdv1beta2.Upkeep, version string) string {
	if err := badTimes(spec.Defragment); err != nil {
		return "spec.upkeep.defragment." + err.Error()
	}
	if (spec.Compaction != nil || spec.CorruptionCheck != "") && !versions.HasMetricsListener(version) {
		return fmt.Sprintf("spec.upkeep: compaction and corruptionCheck need etcd 3.3 or later, but spec.version is %s", version)
	}
	return ""
}

// badTimes returns the error in the schedule or the time zone for defragmentations. It checks the time zone even
// without a schedule, so that an error is reported at once.
func badTimes(spec *etcdv1beta2.Defragment) error {
	if spec == nil {
		return nil
	}
	if spec.Schedule == "" {
		_, err := schedule.Zone(spec.TimeZone)
		return err
	}
	_, err := schedule.Parse(spec.Schedule, spec.TimeZone)
	return err
}

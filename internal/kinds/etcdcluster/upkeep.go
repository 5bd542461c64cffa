// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"fmt"
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/schedule"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// upkeep is what the spec says of it; never nil.
func upkeep(c *etcdv1beta2.EtcdCluster) *etcdv1beta2.Upkeep {
	if c.Spec.Upkeep == nil {
		return &etcdv1beta2.Upkeep{}
	}
	return c.Spec.Upkeep
}

// podUpkeep is the part of it that members' pods are made with.
type podUpkeep struct {
	Compaction      *etcdv1beta2.Compaction `json:",omitempty"`
	CorruptionCheck string                  `json:",omitempty"`
	// Experimental is what the check was until 3.6, which does not start where it is reported by both names.
	Experimental bool `json:",omitempty"`
}

// podUpkeepOf is nil for a version that knows nothing of it, and where nothing is asked: a pod from before
// there was any is as it should be.
func podUpkeepOf(c *etcdv1beta2.EtcdCluster) *podUpkeep {
	u := upkeep(c)
	if u.Compaction == nil && u.CorruptionCheck == "" || !measured(wanted(c)) {
		return nil
	}
	return &podUpkeep{u.Compaction, u.CorruptionCheck, u.CorruptionCheck != "" && older(wanted(c), "3.6.0")}
}

// environment is what etcd is reported by variables and not by flags: a pod's version is changed in place, and a
// flag that only some versions know would end the others, while of a variable they only warn.
func (u *podUpkeep) environment() []*corev1ac.EnvVarApplyConfiguration {
	var out []*corev1ac.EnvVarApplyConfiguration
	say := func(name, value string) {
		out = append(out, corev1ac.EnvVar().WithName(name).WithValue(value))
	}
	if u == nil {
		return nil
	}
	if u.Compaction != nil {
		mode := map[string]string{etcdv1beta2.CompactionPeriodic: "periodic", etcdv1beta2.CompactionRevision: "revision"}
		say("ETCD_AUTO_COMPACTION_MODE", mode[u.Compaction.Mode])
		say("ETCD_AUTO_COMPACTION_RETENTION", u.Compaction.Retention)
	}
	switch {
	case u.Experimental:
		say("ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME", u.CorruptionCheck)
	case u.CorruptionCheck != "":
		say("ETCD_CORRUPT_CHECK_TIME", u.CorruptionCheck)
	}
	return out
}

// heals reports whether something is done about members that are out of space.
func heals(c *etcdv1beta2.EtcdCluster) bool { return upkeep(c).NoSpace != etcdv1beta2.NoSpaceReport }

// keepRevisions is how much of the history is kept then.
func keepRevisions(c *etcdv1beta2.EtcdCluster) int64 {
	if keep := upkeep(c).KeepRevisions; keep != nil {
		return max(0, *keep)
	}
	return etcdv1beta2.DefaultKeepRevisions
}

// wasteOf is from when on members are defragmented; the zero Waste where they are not.
func wasteOf(c *etcdv1beta2.EtcdCluster) etcd.Waste {
	asked := upkeep(c).Defragment
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

// window is how long after a time of the schedule members are still defragmented.
const window = time.Hour

// mayDefragment reports whether members may be defragmented now, and in how long they may next; 0: at once, or never.
func (f facts) mayDefragment(c *etcdv1beta2.EtcdCluster) (may bool, wait time.Duration) {
	asked := upkeep(c).Defragment
	if asked == nil || asked.Schedule == "" {
		return asked != nil, 0
	}
	times, err := schedule.Parse(asked.Schedule, asked.TimeZone)
	if err != nil {
		return false, 0
	}
	if next := times.Next(f.now); !next.IsZero() {
		wait = next.Sub(f.now)
	}
	return !times.Latest(f.now.Add(-window), f.now).IsZero(), wait
}

// upkeepObstacle says what of the upkeep cannot be. All else goes on: a member that is lost is not to wait
// for a schedule to be corrected.
func upkeepObstacle(c *etcdv1beta2.EtcdCluster) string {
	u := upkeep(c)
	if err := badTimes(u.Defragment); err != nil {
		return "spec.upkeep.defragment." + err.Error()
	}
	if (u.Compaction != nil || u.CorruptionCheck != "") && !measured(wanted(c)) {
		return fmt.Sprintf("spec.upkeep: compaction and corruptionCheck need etcd 3.3 or later, and version is %s", wanted(c))
	}
	return ""
}

// badTimes says what of the times for defragmentation cannot be. A time zone is read without a schedule too: a wrong one
// is reported at once, and not when a schedule is set.
func badTimes(asked *etcdv1beta2.Defragment) error {
	if asked == nil {
		return nil
	}
	if asked.Schedule == "" {
		_, err := schedule.Zone(asked.TimeZone)
		return err
	}
	_, err := schedule.Parse(asked.Schedule, asked.TimeZone)
	return err
}

// upkeepIn is when the data is looked at again by itself: when members may be defragmented next, and soon
// while an alarm is raised, as the members' sizes and revisions wake no one.
func (f facts) upkeepIn(c *etcdv1beta2.EtcdCluster) time.Duration {
	if len(f.view.Alarms()) > 0 {
		return underWay
	}
	_, wait := f.mayDefragment(c)
	return wait
}

// refusesWrites says why etcd accepts none, though its members are there: an alarm is raised.
func (f facts) refusesWrites(c *etcdv1beta2.EtcdCluster) (reason, message string) {
	if f.view.Err != nil {
		return "", ""
	}
	if corrupt := f.corrupt(); corrupt != "" {
		return etcdv1beta2.ReasonCorrupt, corrupt
	}
	if full := f.outOfSpace(c); full != "" {
		return etcdv1beta2.ReasonNoSpace, full
	}
	return "", ""
}

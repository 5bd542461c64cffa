// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

const (
	// longestWork is how long a defragmentation, a compaction or a comparison may take: a disk that
	// moves 20 MB a second has moved 10 GB by then.
	longestWork = 10 * time.Minute
	// leastGain is worth a defragmentation, in bytes, and so is a twentieth of the data.
	leastGain = 1 << 20
	// pauseAfterFailure passes until something that failed is tried again.
	pauseAfterFailure = time.Minute
)

// awaitWork lets nothing be changed while a member is busy with its data.
func (f facts) awaitWork(_ *etcdv1beta2.EtcdCluster, d *decision) bool {
	if f.view.Work != "" {
		d.waits = "the " + f.view.Work
	}
	return f.view.Work != ""
}

// defragment has members give space back where the spec says so.
func (f facts) defragment(c *etcdv1beta2.EtcdCluster, d *decision) bool {
	if may, _ := f.mayDefragment(c); !may {
		return false
	}
	waste := wasteOf(c)
	return f.defragmentNext(d, func(status etcd.MemberStatus) bool { return status.Exceeds(waste) && f.gains(status) })
}

// defragmentNext defragments the next member of those that are due, if there is one: the leader is the last,
// and hands over before.
func (f facts) defragmentNext(d *decision, due func(etcd.MemberStatus) bool) bool {
	leader, _ := f.view.Leader()
	var last *member
	for i, m := range d.members {
		status := f.view.Status[m.id]
		switch {
		case !m.voter() || !due(status):
		case m.id == leader:
			last = &d.members[i]
		default:
			d.step = defragment(m, d.voters() > 1)
			return true
		}
	}
	if last == nil {
		return false
	}
	d.step = f.spared(d, *last, defragment(*last, d.voters() > 1))
	return true
}

// gains reports whether a defragmentation gives enough back. What etcd counts as free it may need again at
// once, so one that has just been is left alone until its data has changed.
func (f facts) gains(status etcd.MemberStatus) bool {
	last := f.tended.defragmented[status.ID]
	switch {
	case status.Free() < max(leastGain, status.DBSize/20):
		return false
	case last.at.IsZero():
		return true
	case last.failed != "":
		return f.now.Sub(last.at) >= pauseAfterFailure
	}
	return status.DBSize > last.size+last.size/20 || status.DBInUse < last.inUse-last.inUse/20
}

func defragmentationOf(name string) string { return "defragmentation of " + name }

// defragment has one member write its data again. If the process ends meanwhile the member goes on, and
// the next one finds it as busy, or as small, as it is.
func defragment(m member, costs bool) *step {
	return &step{name: "defragment member " + m.name, about: &m, costs: costs, begin: func(r *reconciler, c *etcdv1beta2.EtcdCluster) etcd.Work {
		return etcd.Work{Name: defragmentationOf(m.name), Limit: longestWork, Do: func(ctx context.Context, store etcd.Store) {
			begun := r.Clock.Now()
			before, _ := store.Status(ctx, m.client) // it is only told
			failed := store.Defragment(ctx, m.client)
			after, err := store.Status(ctx, m.client)
			if failed == nil {
				failed = err
			}
			now := r.Clock.Now()
			done := attempt{at: now, took: now.Sub(begun), size: after.DBSize, inUse: after.DBInUse, failed: words(failed)}
			r.upkeep.note(keyOf(c), c.Status.ClusterID, func(t *tended) { t.defragmented[m.id] = done })
			if failed != nil {
				r.tell(c, m.pod, corev1.EventTypeWarning, "DefragmentationFailed", fmt.Sprintf("Member %s was not defragmented: %v", m.name, failed))
				return
			}
			r.tell(c, m.pod, corev1.EventTypeNormal, "Defragmented", fmt.Sprintf("The data of member %s took %s and takes %s; it answered nobody for %s",
				m.name, readable(before.DBSize), readable(after.DBSize), done.took.Round(time.Millisecond)))
		}}
	}}
}

// tell makes an event of what has ended beside the loop. Events of one reason that are about the same pod, or
// about none, are one with a count, and the first one's words.
func (r *reconciler) tell(c *etcdv1beta2.EtcdCluster, about *corev1.Pod, kind, reason, note string) {
	var related runtime.Object
	if about != nil {
		related = about
	}
	r.Events.Eventf(c, related, kind, reason, "Upkeep", "%s", note)
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func keyOf(c *etcdv1beta2.EtcdCluster) types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
}

// readable is a size as users write it.
func readable(n int64) string {
	value, unit := float64(n), "B"
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, larger
	}
	if value < 10 && unit != "B" {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

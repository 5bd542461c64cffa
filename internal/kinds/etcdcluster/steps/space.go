// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Compact returns the step that compacts the history up to a revision. The step succeeds if the history was already
// compacted up to this revision.
func Compact(revision int64) *Step {
	return &Step{Name: fmt.Sprintf("compact at revision %d", revision), Begin: func(at Site) etcd.Work {
		return etcd.Work{Name: "compaction", Limit: workLimit, Do: func(ctx context.Context, store etcd.Store) {
			err := store.Compact(ctx, revision)
			thrown := err == nil
			if errors.Is(err, etcd.ErrCompacted) {
				err = nil
			}
			at.Record(func(h *History) {
				h.Compaction = Attempt{At: at.Clock.Now(), Failed: textOf(err)}
				if err == nil {
					h.Compacted = revision
				}
			})
			if thrown {
				at.Event(nil, corev1.EventTypeWarning, "HistoryCompacted", fmt.Sprintf(
					"The history before revision %d was discarded because members are out of space: clients that watch or read earlier revisions must start again", revision))
			}
		}}
	}}
}

// Disarm returns the step that clears alarms.
func Disarm(alarms []etcd.Alarm, why string) *Step {
	note := fmt.Sprintf("opcrew cleared the alarm %s because %s", alarms[0], why)
	if len(alarms) > 1 {
		note = fmt.Sprintf("opcrew cleared %d alarms %s because %s", len(alarms), alarms[0].Kind, why)
	}
	return &Step{Name: "disarm " + alarms[0].Kind, Reason: "AlarmDisarmed", Note: note, Do: func(ctx context.Context, store etcd.Store) error {
		for _, alarm := range alarms {
			if err := store.Disarm(ctx, alarm); err != nil {
				return err
			}
		}
		return nil
	}}
}

// workLimit is how long a defragmentation, a compaction or a comparison may take: long enough for 10 GB on a disk with
// 20 MB/s.
const workLimit = 10 * time.Minute

// DefragmentationOf returns the name of the work that defragments a member. The name identifies this work in a view.
func DefragmentationOf(name string) string { return "defragmentation of " + name }

// Defragment returns the step that defragments one member in the background. If the operator's process ends meanwhile,
// the member continues. The next process then finds the member busy or defragmented.
func Defragment(m model.Member, costs bool) *Step {
	return &Step{Name: "defragment member " + m.Name, About: &m, CostsVoter: costs, Begin: func(at Site) etcd.Work {
		return etcd.Work{Name: DefragmentationOf(m.Name), Limit: workLimit, Do: func(ctx context.Context, store etcd.Store) {
			begun := at.Clock.Now()
			// An error does not matter, because the previous size is used only in the event.
			before, _ := store.Status(ctx, m.Client)
			failed := store.Defragment(ctx, m.Client)
			after, err := store.Status(ctx, m.Client)
			if failed == nil {
				failed = err
			}
			now := at.Clock.Now()
			done := Attempt{At: now, Took: now.Sub(begun), Size: after.DBSize, InUse: after.DBInUse, Failed: textOf(failed)}
			at.Record(func(h *History) { h.Defragmented[m.ID] = done })
			if failed != nil {
				at.Event(m.Pod, corev1.EventTypeWarning, "DefragmentationFailed", fmt.Sprintf("Member %s was not defragmented: %v", m.Name, failed))
				return
			}
			at.Event(m.Pod, corev1.EventTypeNormal, "Defragmented", fmt.Sprintf("Member %s was defragmented: the size of its data was %s before and is %s now, and it did not respond for %s",
				m.Name, FormatSize(before.DBSize), FormatSize(after.DBSize), done.Took.Round(time.Millisecond)))
		}}
	}}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FormatSize formats a size in bytes for messages, such as "1.5 GiB".
func FormatSize(n int64) string {
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

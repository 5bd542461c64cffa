// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// compact throws history away. That there is none before a revision is as good.
func compact(revision int64) *step {
	return &step{name: fmt.Sprintf("compact at revision %d", revision), begin: func(r *reconciler, c *etcdv1beta2.EtcdCluster) etcd.Work {
		return etcd.Work{Name: "compaction", Limit: longestWork, Do: func(ctx context.Context, store etcd.Store) {
			err := store.Compact(ctx, revision)
			thrown := err == nil
			if errors.Is(err, etcd.ErrCompacted) {
				err = nil
			}
			r.upkeep.note(keyOf(c), c.Status.ClusterID, func(t *tended) {
				t.compaction = attempt{at: r.Clock.Now(), failed: words(err)}
				if err == nil {
					t.compacted = revision
				}
			})
			if thrown {
				r.tell(c, nil, corev1.EventTypeWarning, "HistoryCompacted", fmt.Sprintf(
					"The history before revision %d was thrown away, as members are out of space: who watches or reads from before it has to begin anew", revision))
			}
		}}
	}}
}

// disarm takes alarms back.
func disarm(alarms []etcd.Alarm, why string) *step {
	note := fmt.Sprintf("The alarm %s is taken back: %s", alarms[0], why)
	if len(alarms) > 1 {
		note = fmt.Sprintf("%d alarms %s are taken back: %s", len(alarms), alarms[0].Kind, why)
	}
	return &step{name: "disarm " + alarms[0].Kind, reason: "AlarmDisarmed", note: note, do: func(ctx context.Context, store etcd.Store) error {
		for _, alarm := range alarms {
			if err := store.Disarm(ctx, alarm); err != nil {
				return err
			}
		}
		return nil
	}}
}

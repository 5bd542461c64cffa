// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apply carries out a step that another package decided on. It first reads the members, pods and nodes again to
// check that the reasons for the step still hold. It also remembers the results of steps. It decides nothing.
package apply

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Take carries out a step in etcd, after a check with live reads that the reasons for it still hold. If etcd refuses a
// step, Take retries it soon, because no event reports when etcd would accept it. The status shows etcd's answer.
func (t Taker) Take(ctx context.Context, c *etcdv1beta2.EtcdCluster, s *steps.Step, seen etcd.View) error {
	key := client.ObjectKeyFromObject(c)
	if s.Confirm {
		still, err := t.stillLost(ctx, c, *s.About, seen)
		switch {
		case err != nil:
			return err
		case !still:
			return kit.ErrNotNow
		}
	}
	err := t.Prober.Do(ctx, key, func(ctx context.Context, store etcd.Store) error {
		if err := s.Holds(ctx, store, seen); err != nil {
			return err
		}
		if s.Begin != nil {
			return t.Prober.Begin(key, s.Begin(t.Site(c.DeepCopy())))
		}
		return s.Do(ctx, store)
	})
	switch {
	case err == nil:
		t.Refused.Forget(key)
		return nil
	case errors.Is(err, steps.ErrChanged), errors.Is(err, etcd.ErrNotWatched), errors.Is(err, etcd.ErrBusy), errors.Is(err, etcd.ErrLearnerNotReady):
		t.Refused.Record(key, t.Clock.Now(), "") // no message: the prober soon reads the members again
		return kit.ErrNotNow
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, steps.ErrQuorum), errors.Is(err, steps.ErrNoEntries), errors.Is(err, etcd.ErrUnhealthy), errors.Is(err, etcd.ErrTooManyLearners):
		t.Refused.Record(key, t.Clock.Now(), err.Error())
		return kit.ErrNotNow
	}
	return err
}

// Site returns what a step that runs in the background needs: a clock, and functions to record and report what was
// done.
func (t Taker) Site(c *etcdv1beta2.EtcdCluster) steps.Site {
	return steps.Site{
		Clock: t.Clock,
		Record: func(change func(*steps.History)) {
			t.Upkeep.Record(client.ObjectKeyFromObject(c), c.Status.ClusterID, change)
		},
		Event: func(about *corev1.Pod, kind, reason, note string) {
			var related runtime.Object
			if about != nil {
				related = about
			}
			t.Events.Eventf(c, related, kind, reason, "Upkeep", "%s", note)
		},
	}
}

// stillLost reports, from live reads, whether a member is lost. A stale cache may lack the member's pod, and removing a
// member cannot be undone.
func (t Taker) stillLost(ctx context.Context, c *etcdv1beta2.EtcdCluster, m model.Member, seen etcd.View) (bool, error) {
	m, err := t.LiveMember(ctx, c, m)
	return model.NewJudge(c, t.Clock.Now(), model.Decides(c, seen)).Lost(m) != "", err
}

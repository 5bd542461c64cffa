// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/etcd"
)

// step is one change of the membership or of the lead, with what it rests on.
type step struct {
	name string
	// about is the member that it is done to; nil for an addition.
	about *member
	// event tells users of it.
	reason, note string
	// confirm has the pod and the claim of the member read again before it is done.
	confirm bool
	do      func(context.Context, etcd.Store) error
}

// remove takes a member out for good.
func remove(m member, why string) *step {
	return &step{
		name: "remove member " + m.name, about: &m, confirm: m.lost != "",
		reason: "MemberRemoved", note: fmt.Sprintf("Member %s (%016x) is taken out: %s", m.name, m.id, why),
		do: func(ctx context.Context, store etcd.Store) error {
			if err := store.Remove(ctx, m.id); !errors.Is(err, etcd.ErrMemberNotFound) {
				return err
			}
			return nil
		},
	}
}

// add has the cluster expect a member. That it was added already by a call whose answer was
// lost is seen by its peer URL, which no other member ever has.
func add(name, url string, learner bool) *step {
	return &step{
		name: "add member " + name, reason: "MemberAdded", note: fmt.Sprintf("Member %s is added", name),
		do: func(ctx context.Context, store etcd.Store) error {
			call := store.AddLearner
			if !learner {
				call = store.AddVoter
			}
			if _, err := call(ctx, url); !errors.Is(err, etcd.ErrPeerURLExists) {
				return err
			}
			return nil
		},
	}
}

// promote gives a learner a vote. One that lags behind is tried again with the next look.
func promote(m member) *step {
	return &step{
		name: "promote member " + m.name, about: &m, reason: "MemberPromoted", note: fmt.Sprintf("Member %s votes from now on", m.name),
		do: func(ctx context.Context, store etcd.Store) error {
			err := store.Promote(ctx, m.id)
			if errors.Is(err, etcd.ErrNotLearner) {
				return nil
			}
			return err
		},
	}
}

// handOver has the leader hand over the lead, so that what is done to it costs no election.
func handOver(from, to member) *step {
	return &step{
		name: "move the lead to " + to.name, about: &from, reason: "LeaderMoved", note: fmt.Sprintf("The lead goes from %s to %s", from.name, to.name),
		do: func(ctx context.Context, store etcd.Store) error {
			if err := store.MoveLeader(ctx, from.client, to.id); !errors.Is(err, etcd.ErrNotLeader) {
				return err
			}
			return nil
		},
	}
}

// errPassed tells that what a step was decided on is not so any more.
var errPassed = errors.New("the members have changed since this was decided")

// take carries a step out on the live cluster, after a look whether what it was decided on
// still holds there.
func (r *reconciler) take(ctx context.Context, c *etcdv1beta2.EtcdCluster, s *step, seen []etcd.Member) error {
	key := client.ObjectKeyFromObject(c)
	if s.confirm {
		if still, err := r.stillLost(ctx, c, *s.about); !still || err != nil {
			return err
		}
	}
	err := r.prober.Do(ctx, key, func(ctx context.Context, store etcd.Store) error {
		_, now, err := store.Members(ctx)
		switch {
		case err != nil:
			return err
		case !slices.EqualFunc(sorted(seen), sorted(now), func(a, b etcd.Member) bool { return a.ID == b.ID && a.Learner == b.Learner }):
			return errPassed
		}
		return s.do(ctx, store)
	})
	switch {
	case errors.Is(err, errPassed), errors.Is(err, etcd.ErrLearnerNotReady), errors.Is(err, etcd.ErrUnhealthy), errors.Is(err, etcd.ErrTooManyLearners):
		return nil // the next look shows more, and comes soon
	}
	return err
}

func sorted(members []etcd.Member) []etcd.Member {
	out := slices.Clone(members)
	slices.SortFunc(out, func(a, b etcd.Member) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	return out
}

// stillLost asks the API server itself whether a member is lost: a cache that lags behind
// shows no pod where there is one, and what is taken out can never come back.
func (r *reconciler) stillLost(ctx context.Context, c *etcdv1beta2.EtcdCluster, m member) (bool, error) {
	f := facts{now: r.Clock.Now(), nodes: map[string]node{}, nodesKnown: true}
	pod, claim := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: m.name}
	m.pod, m.claim = nil, nil
	if found, err := r.found(ctx, key, pod); err != nil {
		return false, err
	} else if found {
		m.pod = pod
	}
	if found, err := r.found(ctx, key, claim); err != nil {
		return false, err
	} else if found {
		m.claim = claim
	}
	if m.pod != nil && m.pod.Spec.NodeName != "" {
		n := &corev1.Node{}
		if found, err := r.found(ctx, client.ObjectKey{Name: m.pod.Spec.NodeName}, n); err != nil {
			return false, err
		} else if found {
			f.nodes[n.Name] = nodeOf(n)
		}
	}
	return f.lost(c, m) != "", nil
}

func (r *reconciler) found(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	err := r.Live.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("is %T %s there: %w", object, key, err)
	}
	return err == nil, nil
}

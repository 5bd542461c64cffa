// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// errPassed reports that what a step was decided on is not so any more.
var errPassed = errors.New("the members have changed since this was decided")

// errQuorum reports that a step would cost the quorum.
var errQuorum = errors.New("too few members would be left to decide")

// take carries a step out on the live cluster, after a look whether what it was decided on
// still holds there. What the cluster does not do now may be done soon: no one is told that it
// was done, and the status says what the cluster said.
func (r *reconciler) take(ctx context.Context, c *etcdv1beta2.EtcdCluster, s *step, seen etcd.View) error {
	key := client.ObjectKeyFromObject(c)
	if s.confirm {
		still, err := r.stillLost(ctx, c, *s.about, seen)
		switch {
		case err != nil:
			return err
		case !still:
			return kit.ErrNotNow
		}
	}
	err := r.prober.Do(ctx, key, func(ctx context.Context, store etcd.Store) error {
		if err := s.holds(ctx, store, seen); err != nil {
			return err
		}
		if s.begin != nil {
			return r.prober.Begin(key, s.begin(r, c.DeepCopy()))
		}
		return s.do(ctx, store)
	})
	switch {
	case err == nil:
		r.refused.forget(key)
		return nil
	case errors.Is(err, errPassed), errors.Is(err, etcd.ErrNotWatched), errors.Is(err, etcd.ErrBusy), errors.Is(err, etcd.ErrLearnerNotReady):
		r.refused.note(key, r.Clock.Now(), "") // the next look shows more, and comes soon
		return kit.ErrNotNow
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errQuorum), errors.Is(err, errNoEntries), errors.Is(err, etcd.ErrUnhealthy), errors.Is(err, etcd.ErrTooManyLearners):
		r.refused.note(key, r.Clock.Now(), err.Error())
		return kit.ErrNotNow
	}
	return err
}

// holds reports whether the members are those that a step was decided on, and, where it takes a
// voter away, whether enough of the others answer at this very moment.
func (s *step) holds(ctx context.Context, store etcd.Store, seen etcd.View) error {
	id, now, err := store.Members(ctx)
	same := func(a, b etcd.Member) bool { return a.ID == b.ID && a.Learner == b.Learner }
	switch {
	case err != nil:
		return err
	case id != seen.ClusterID || !slices.EqualFunc(sorted(seen.Members), sorted(now), same):
		return errPassed
	case !s.costs:
		return nil
	}
	left, answer := 0, 0
	for _, m := range now {
		if m.Learner || m.ID == s.about.id {
			continue
		}
		left++
		if len(m.ClientURLs) == 0 {
			continue
		}
		if status, err := store.Status(ctx, m.ClientURLs[0]); err == nil && status.Leader != 0 {
			answer++
		}
	}
	if answer < left/2+1 {
		return fmt.Errorf("%w: %d of %d others answer", errQuorum, answer, left)
	}
	return nil
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
func (r *reconciler) stillLost(ctx context.Context, c *etcdv1beta2.EtcdCluster, m member, seen etcd.View) (bool, error) {
	f, m, err := r.liveMember(ctx, c, m)
	f.view = seen
	return f.lost(c, m) != "", err
}

// liveMember is a member as the API server itself has it, and what there is to know of its node.
func (r *reconciler) liveMember(ctx context.Context, c *etcdv1beta2.EtcdCluster, m member) (facts, member, error) {
	f := facts{now: r.Clock.Now(), nodes: map[string]node{}, nodesKnown: true}
	pod, claim := &corev1.Pod{}, &corev1.PersistentVolumeClaim{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: m.name}
	m.pod, m.claim = nil, nil
	if found, err := r.ours(ctx, c, key, pod); err != nil {
		return f, m, err
	} else if found {
		m.pod = pod
	}
	if found, err := r.ours(ctx, c, key, claim); err != nil {
		return f, m, err
	} else if found {
		m.claim = claim
	}
	if m.pod != nil && m.pod.Spec.NodeName != "" {
		n := &corev1.Node{}
		if found, err := r.found(ctx, client.ObjectKey{Name: m.pod.Spec.NodeName}, n); err != nil {
			return f, m, err
		} else if found {
			f.nodes[n.Name] = nodeOf(n)
		}
	}
	return f, m, r.readHomes(ctx, r.Live, &f, m)
}

// ours reports whether an object is there and the cluster's. One that someone else made under the
// name of one that is gone does not bring it back; one of ours that someone took the labels off
// by which it is found must be given them again, as it is not seen without.
func (r *reconciler) ours(ctx context.Context, c *etcdv1beta2.EtcdCluster, key client.ObjectKey, object client.Object) (bool, error) {
	found, err := r.found(ctx, key, object)
	if err != nil || !found || !metav1.IsControlledBy(object, c) {
		return false, err
	}
	for _, l := range [][2]string{{common.OwnerLabel, string(c.UID)}, {common.ManagedByLabel, common.Name}} {
		if object.GetLabels()[l[0]] != l[1] {
			return false, fmt.Errorf("%s is there, and somebody took its label %s=%s off, by which it is found; put it back", key.Name, l[0], l[1])
		}
	}
	return true, nil
}

func (r *reconciler) found(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	err := r.Live.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("is %T %s there: %w", object, key, err)
	}
	return err == nil, nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// take carries a step out on the servers. What they do not do now they may do soon: no one is told that it was
// done, and the status says what they said.
func (r *reconciler) take(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, d decision, gone []unrunning) error {
	key := client.ObjectKeyFromObject(c)
	if d.restsOnGone() {
		if still, err := r.stillGone(ctx, c.Namespace, gone); err != nil {
			return err
		} else if !still {
			return kit.ErrNotNow
		}
	}
	err := r.prober.Take(ctx, key, d.step)
	if asked, ok := d.step.(redis.TakeLead); ok && errors.Is(err, redis.ErrNotElected) {
		r.memory.lostElection(key, d.servers.at(asked.Address).run, r.Clock.Now().Add(electionPause(c)+attempt))
	}
	switch {
	case err == nil:
		r.memory.took(key)
		return nil
	case errors.Is(err, redis.ErrNotWatched):
		r.memory.note(key, r.Clock.Now(), "")
	default:
		r.memory.note(key, r.Clock.Now(), err.Error())
	}
	return kit.ErrNotNow
}

// restsOnGone reports whether a step would lose data if a pod that is taken for gone were not: by it someone leads in
// the place of who may have more, or data is given up that may be there.
func (d decision) restsOnGone() bool {
	switch d.step.(type) {
	case redis.Takeover, redis.ForceFailover:
		return true
	}
	return len(d.ring.Forsaken) > 0
}

// stillGone asks the API server itself whether pods run as little as the cache has it: a replica that takes over
// while its primary runs would lose what that accepts.
func (r *reconciler) stillGone(ctx context.Context, namespace string, gone []unrunning) (bool, error) {
	for _, seen := range gone {
		pod := &corev1.Pod{}
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: seen.name}, pod)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return false, fmt.Errorf("is pod %s there: %w", seen.name, err)
		case err == nil && pod.Spec.NodeName != "" && !ended(pod):
			return false, nil
		}
	}
	return true, nil
}

// restart has the StatefulSet make a pod again: exactly the one that was looked at, as it was.
func (r *reconciler) restart(ctx context.Context, pod *corev1.Pod) error {
	uid, version := pod.UID, pod.ResourceVersion
	err := r.Client.Delete(ctx, pod, client.Preconditions{UID: &uid, ResourceVersion: &version})
	switch {
	case client.IgnoreNotFound(err) == nil:
		return nil
	case apierrors.IsConflict(err):
		return kit.ErrNotNow
	}
	return fmt.Errorf("delete pod %s: %w", pod.Name, err)
}

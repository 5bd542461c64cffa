// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// take executes a step in the Redis cluster. If servers refuse the step, it is retried soon. The status then reports
// the refusal, and no event is written.
func (r *Runner) take(ctx context.Context, in Input) error {
	key, step := client.ObjectKeyFromObject(in.Cluster), in.Decision.Step
	if needsGone(in.Decision) {
		if still, err := r.stillGone(ctx, in.Cluster.Namespace, in.Gone); err != nil {
			return err
		} else if !still {
			return kit.ErrNotNow
		}
	}
	err := r.Prober.Take(ctx, key, step)
	if asked, ok := step.(redis.TakeLead); ok && errors.Is(err, redis.ErrNotElected) {
		pause := desired.ElectionPause(in.Cluster) + desired.ElectionAttempt
		r.Memory.LostElection(key, in.Servers.At(asked.Address).Run, r.Clock.Now().Add(pause))
	}
	switch {
	case err == nil:
		r.Memory.Taken(key)
		return nil
	case errors.Is(err, redis.ErrNotWatched):
		r.Memory.Postpone(key, r.Clock.Now(), "")
	default:
		r.Memory.Postpone(key, r.Clock.Now(), err.Error())
	}
	return kit.ErrNotNow
}

// needsGone reports whether a step would lose data if a pod that seems gone still runs. Such a step promotes a replica
// that may lack the last writes of the pod, or gives up data that the pod may still have.
func needsGone(d decide.Decision) bool {
	switch d.Step.(type) {
	case redis.Takeover, redis.ForceFailover:
		return true
	}
	return len(d.Ring.GivenUp) > 0
}

// stillGone reports whether the pods are still gone, according to the API server and not the cache.
func (r *Runner) stillGone(ctx context.Context, namespace string, pods []string) (bool, error) {
	for _, name := range pods {
		pod := &corev1.Pod{}
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return false, fmt.Errorf("check whether pod %s is gone: %w", name, err)
		case err == nil && pod.Spec.NodeName != "" && !observed.Ended(pod):
			return false, nil
		}
	}
	return true, nil
}

// restart deletes the pod if it has not changed since it was read. The StatefulSet controller then recreates it.
func (r *Runner) restart(ctx context.Context, pod *corev1.Pod) error {
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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// killLeader deletes the leader pod of a layer (one Deployment of the operator), without giving it time to stop.
func (c *cluster) killLeader(ctx context.Context, layer string) error {
	lease := &coordinationv1.Lease{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "opcrew-" + layer}, lease); err != nil {
		return err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return errors.New("no process holds the lease")
	}
	pod := &corev1.Pod{}
	pod.Namespace = namespace
	pod.Name, _, _ = strings.Cut(*lease.Spec.HolderIdentity, "_")
	return c.Delete(ctx, pod, client.GracePeriodSeconds(0))
}

// killAtSteps kills the leader pod of a layer (one Deployment of the operator) after each step of a change, until stop
// is called. stop returns the number of kills. A new leader waits until the lease expires, so a single run does not
// kill the operator at every step.
func (c *cluster) killAtSteps(t *testing.T, layer string, step func(context.Context) (string, error)) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	kills, wg := 0, sync.WaitGroup{}
	wg.Go(func() {
		last, _ := step(ctx)
		for ctx.Err() == nil {
			now, err := step(ctx)
			if err == nil && now != last && c.killLeader(ctx, layer) == nil {
				kills, last = kills+1, now
			}
			select {
			case <-ctx.Done():
			case <-time.After(30 * time.Millisecond):
			}
		}
	})
	return func() int {
		cancel()
		wg.Wait()
		return kills
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/workload"
)

// Observe reads the objects of a Diva and the state of its pods, keys and claims.
func (r *reconciler) Observe(ctx context.Context, d *opsv1.Diva) (facts, error) {
	f := facts{agentImage: r.AgentImage, now: r.Clock.Now()}
	var err error
	for _, read := range []func(context.Context, *opsv1.Diva, *facts) error{
		r.observePods, r.observeAttachment, r.observeInventory, r.observeKeys, r.observeServed, r.observeClaims,
	} {
		if err == nil {
			err = read(ctx, d, &f)
		}
	}
	return f, err
}

func (r *reconciler) observePods(ctx context.Context, d *opsv1.Diva, f *facts) (err error) {
	if f.manager, err = workload.ObserveRollout(ctx, r.Client, d, names.Managers(d)); err != nil {
		return err
	}
	if f.clients, err = workload.ObserveMembers(ctx, r.Client, d, names.Clients(d)); err != nil {
		return err
	}
	f.manager.Recall(r.Children)
	f.clients.Recall(r.Children)
	if !f.clients.Missing() {
		r.refusals.Forget(client.ObjectKeyFromObject(d))
		return nil
	}
	f.clients.Refusal = r.refusals.Why(ctx, client.ObjectKeyFromObject(d), f.clients.Set, hasReason(d, opsv1.DivaClientsReady, common.ReasonPodsMissing))
	return nil
}

func (r *reconciler) observeInventory(ctx context.Context, d *opsv1.Diva, f *facts) error {
	list := &corev1.ConfigMap{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: names.InventoryName(d)}, list)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the ConfigMap with the inventory: %w", err)
	}
	f.inventory = list.Data[build.HostsKey]
	return nil
}

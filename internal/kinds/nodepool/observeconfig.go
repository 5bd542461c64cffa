// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	inforce "github.com/opcrew/opcrew/internal/guard/policy"
)

// The CRDs of MachineConfig, which are installed separately.
const (
	configsCRD     = "machineconfigs.machineconfiguration.openshift.io"
	configPoolsCRD = "machineconfigpools.machineconfiguration.openshift.io"
)

// configFacts holds what is read about the MachineConfigPool of a NodePool.
type configFacts struct {
	installed bool                      // false if the cluster has no MachineConfig of opcrew
	pool      *mcfgv1.MachineConfigPool // the one with the name of the NodePool; nil if there is none
	// vouched is set if the admission policy is in force that records requesters. It is only read if the
	// MachineConfigPool must be written.
	vouched bool
}

func (r *poolReconciler) observeConfig(ctx context.Context, pool *nodesv1.NodePool) (configFacts, error) {
	f := configFacts{installed: r.Installed[configPoolsCRD]}
	if !f.installed || pool.Spec.MachineConfigSelector == nil || pool.DeletionTimestamp != nil {
		return f, nil
	}
	var err error
	if f.pool, err = r.configPool(ctx, pool.Name); err != nil || asRequested(pool, f.pool) {
		return f, err
	}
	if f.vouched, err = inforce.InForce(ctx, r.Live, policy); err != nil {
		return f, fmt.Errorf("read the admission policy %s: %w", policy, err)
	}
	return f, nil
}

func (r *poolReconciler) configPool(ctx context.Context, name string) (*mcfgv1.MachineConfigPool, error) {
	found := &mcfgv1.MachineConfigPool{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read MachineConfigPool %s: %w", name, err)
	}
	return found, nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// facts holds everything that is read about a pool.
type facts struct {
	fleet fleet.Fleet
	// rendering is the merged configuration, or why there is none.
	rendering rendering
	// delivered is set if the Secret and the MachineConfig of the rendering exist.
	delivered bool
	// rendered are the MachineConfigs that opcrew rendered for the pool.
	rendered []*mcfgv1.MachineConfig
	// configs are the delivered configurations that nodes of the pool have or get.
	configs map[string]*orders.Config
	// drains are the last plans of drains by node.
	drains map[string]*drain.Plan
	// denied are the refusals of patches by node.
	denied map[string]string
	// key is the key for hashes of secret data; nil if there is none yet.
	key []byte
}

// Observe reads the fleet, and renders the MachineConfigs of the pool.
func (r *poolReconciler) Observe(ctx context.Context, pool *mcfgv1.MachineConfigPool) (facts, error) {
	f := facts{drains: map[string]*drain.Plan{}, denied: map[string]string{}}
	var err error
	if f.fleet, err = r.fleet(ctx); err != nil || pool.DeletionTimestamp != nil {
		return f, err
	}
	all, err := r.machineConfigs(ctx)
	if err != nil {
		return f, err
	}
	if f.key, err = r.key(ctx, pool); err != nil {
		return f, err
	}
	if f.rendering, err = r.render(ctx, pool, sources(pool, all), &f.key); err != nil {
		return f, err
	}
	f.rendered = renderedFor(pool, all)
	if f.delivered, err = r.isDelivered(ctx, f); err != nil {
		return f, err
	}
	return f, r.observeNodes(ctx, pool, &f)
}

// observeNodes reads what may block changes of nodes, such as unfinished drains. If a node of the pool has to change, it
// also loads the configurations of the nodes of the pool.
func (r *poolReconciler) observeNodes(ctx context.Context, pool *mcfgv1.MachineConfigPool, f *facts) error {
	names, busy, controlPlane := []string{fleet.Target(pool), pool.Status.Configuration.Name}, false, false
	primaries := f.fleet.Primaries()
	for i, n := range f.fleet.Nodes {
		if plan := r.drains.Get(n.Name); plan != nil {
			f.drains[n.Name] = plan
			f.fleet.Drained[n.Name] = plan.Done()
		}
		if why := r.denied.Get(n.Name); why != "" {
			f.denied[n.Name] = why
		}
		if primaries[i] != pool.Name {
			continue
		}
		current := n.Annotations[machineorder.CurrentConfig]
		names = append(names, current)
		if current != fleet.Goal(pool) || fleet.Phase(n) != rollout.Idle {
			busy, controlPlane = true, controlPlane || fleet.IsControlPlane(n)
		}
	}
	if !busy {
		return nil
	}
	var err error
	if f.configs, err = r.configs.load(ctx, names...); err != nil {
		return err
	}
	return r.observeOthers(ctx, &f.fleet, controlPlane)
}

func (r *poolReconciler) machineConfigs(ctx context.Context) ([]*mcfgv1.MachineConfig, error) {
	list := &mcfgv1.MachineConfigList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list MachineConfigs: %w", err)
	}
	return pointers(list.Items), nil
}

// sources returns the MachineConfigs that a pool selects, except those that were rendered for a pool.
func sources(pool *mcfgv1.MachineConfigPool, all []*mcfgv1.MachineConfig) []mcfgv1.MachineConfig {
	selector := fleet.Selector(pool.Spec.MachineConfigSelector)
	var out []mcfgv1.MachineConfig
	for _, mc := range all {
		if !isRendered(mc) && mc.DeletionTimestamp == nil && selector.Matches(labelsOf(mc)) {
			out = append(out, *mc)
		}
	}
	return out
}

// isRendered reports whether a pool controls a MachineConfig. The annotation with the version of the operator is no
// proof: in OpenShift, sources such as 00-worker have it too.
func isRendered(mc *mcfgv1.MachineConfig) bool {
	c := metav1.GetControllerOf(mc)
	return c != nil && c.Kind == "MachineConfigPool" && strings.HasPrefix(c.APIVersion, mcfgv1.GroupVersion.Group+"/")
}

// renderedFor returns the MachineConfigs that opcrew rendered for a pool.
func renderedFor(pool *mcfgv1.MachineConfigPool, all []*mcfgv1.MachineConfig) []*mcfgv1.MachineConfig {
	var out []*mcfgv1.MachineConfig
	for _, mc := range all {
		if metav1.IsControlledBy(mc, pool) {
			out = append(out, mc)
		}
	}
	return out
}

// isDelivered reports whether nodes can be ordered to change to the rendering.
func (r *poolReconciler) isDelivered(ctx context.Context, f facts) (bool, error) {
	name := f.rendering.name()
	if name == "" || !hasName(f.rendered, name) {
		return false, nil
	}
	config, err := r.configs.get(ctx, name)
	return config != nil, err
}

func hasName(all []*mcfgv1.MachineConfig, name string) bool {
	for _, mc := range all {
		if mc.Name == name {
			return true
		}
	}
	return false
}

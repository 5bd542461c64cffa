// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/jsonpatch"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const (
	// soakWait is the time between two looks at nodes that must stay healthy for a while.
	soakWait = 2 * time.Second
	// kuredWait is the time between two looks at kured's lock, whose release causes no event.
	kuredWait = 15 * time.Second
	// silenceWait is the time between two looks at nodes that may be lost or have a step to take, and at agents that may
	// be silent.
	silenceWait = time.Minute
)

// Plan delivers the configuration of the pool, and then names it in the spec. It collects configurations that no node
// needs. nodeReconciler plans the changes of nodes.
func (r *poolReconciler) Plan(pool *mcfgv1.MachineConfigPool, f facts, d decision) kit.Plan {
	if pool.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	plan := kit.Plan{
		Children: children(pool, f),
		Prune:    []client.ObjectList{&mcfgv1.MachineConfigList{}, &corev1.SecretList{}},
		Stays: func(object client.Object) bool {
			return d.needed[object.GetName()] || isKey(pool, object)
		},
		Again: again(f, d),
	}
	if patch, wanted := configurationPatch(pool, f); wanted {
		plan.Patches = []kit.Patch{patch}
	}
	return plan
}

// again returns when to look again without an event.
func again(f facts, d decision) time.Duration {
	var plan kit.Plan
	for _, v := range d.verdicts {
		switch {
		case v.Reason == mcfgv1.ReasonSoaking || v.Reason == mcfgv1.ReasonEtcdUnhealthy:
			plan.LookAgain(soakWait)
		case v.Reason == mcfgv1.ReasonUpdating || v.Action != "": // the node may have waited for the cache to show another node
			plan.LookAgain(silenceWait)
		}
	}
	if len(f.fleet.Kured) > 0 && len(d.verdicts) > 0 {
		plan.LookAgain(kuredWait)
	}
	if wait := f.rendering.lasts(); wait > 0 {
		plan.LookAgain(wait)
	}
	return plan.Again
}

// children returns the rendered MachineConfig and the Secret with the same configuration for machine agents.
func children(pool *mcfgv1.MachineConfigPool, f facts) []ensure.Child {
	if f.rendering.name() == "" {
		return nil
	}
	var out []ensure.Child
	if f.rendering.usesSecrets && isUsable(f.key) {
		out = append(out, ensure.Child{Object: keySecret(pool, f.key), Random: true, Once: true})
		if f.rendering.newKey {
			return out // the names of configurations contain hashes with the key, so the key must be stored first
		}
	}
	return append(out,
		ensure.Child{Object: renderedConfig(f.rendering), Once: true},
		ensure.Child{Object: deliveredSecret(f.rendering), Once: true})
}

// configurationPatch writes the delivered configuration into the spec of the pool, as OpenShift's operator does.
func configurationPatch(pool *mcfgv1.MachineConfigPool, f facts) (kit.Patch, bool) {
	if !f.delivered {
		return kit.Patch{}, false
	}
	wanted := configurationOf(f.rendering)
	if equality.Semantic.DeepEqual(pool.Spec.Configuration, wanted) {
		return kit.Patch{}, false
	}
	ops := jsonpatch.Patch{jsonpatch.Test("/metadata/uid", pool.UID), jsonpatch.Add("/spec/configuration", wanted)}
	return kit.Patch{
		Object: pool, Type: types.JSONPatchType, Data: ops.Encode(), Intent: ensure.Hash(wanted),
		Fields: fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "configuration")),
	}, true
}

// configurationOf returns the reference to a rendered MachineConfig and to its sources.
func configurationOf(r rendering) mcfgv1.PoolConfiguration {
	out := mcfgv1.PoolConfiguration{Reference: referenceTo(r.host.Name)}
	for _, name := range r.rendered.Sources {
		out.Source = append(out.Source, referenceTo(name))
	}
	return out
}

func referenceTo(name string) mcfgv1.Reference {
	return mcfgv1.Reference{APIVersion: mcfgv1.GroupVersion.String(), Kind: "MachineConfig", Name: name}
}

// after updates the metrics, and wakes the nodes that can take a step now, also those of other pools and of none: a node
// that leaves a budget or has changed lets another one go on.
func (r *poolReconciler) after(pool *mcfgv1.MachineConfigPool, _ facts, d decision, _ kit.Outcome) {
	r.gauges.observe(pool, &d)
	for _, name := range d.ready {
		r.nodes.wake(name)
	}
}

// recorded reports whether the status has an unwritten record that later steps depend on.
func recorded(before, after *mcfgv1.MachineConfigPool) bool {
	return !equality.Semantic.DeepEqual(before.Status.RollBack, after.Status.RollBack) ||
		before.Status.Configuration.Name != after.Status.Configuration.Name
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepool

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// configPoolKind is the kind of the child that configures the nodes of a NodePool.
const configPoolKind = "MachineConfigPool"

// apart divides an outcome into the part about the RuntimeClass and the part about the MachineConfigPool, so that each
// has a condition of its own. A failure without a child, such as that of the finalizer, belongs to the first part.
func apart(done kit.Outcome) (class, config kit.Outcome) {
	class, config = done, done
	isConfig := func(r ensure.Result) bool { return r.Ref.Kind == configPoolKind }
	config.Results = slices.DeleteFunc(slices.Clone(done.Results), func(r ensure.Result) bool { return !isConfig(r) })
	class.Results = slices.DeleteFunc(slices.Clone(done.Results), isConfig)
	config.Held, config.Err = 0, nil
	for _, r := range config.Results {
		switch {
		case r.Action == ensure.Held:
			config.Held++
		case r.Err != nil && !ensure.Outdated(r.Err):
			config.Err = r.Err
		case r.Err == nil && r.Action == "" && failed(class.Results) == nil:
			config.Err = done.Err // a deletion that failed
		}
	}
	class.Held -= config.Held
	if config.Err != nil {
		class.Err = failed(class.Results)
	}
	return class, config
}

// failed returns the first failure of a child.
func failed(results []ensure.Result) error {
	for _, r := range results {
		if r.Err != nil && !ensure.Outdated(r.Err) {
			return r.Err
		}
	}
	return nil
}

// reportConfig reports whether the nodes have the configuration of the pool: what the MachineConfigPool reports, or why
// it is not as declared.
func reportConfig(set condition.Set, pool *nodesv1.NodePool, f configFacts, d configDecision, done kit.Outcome) {
	const kind = nodesv1.NodePoolConfigured
	switch {
	case d.problem != nil:
		set.False(kind, d.problem.reason, d.problem.message)
	case !d.declared && done.Err == nil && done.Held == 0:
		set.Remove(kind)
	case done.Err == nil && done.Held > 0 && nodestate.DryRun(pool):
		set.False(kind, nodesv1.ReasonDryRun, "A change of the MachineConfigPool is held back by the annotation "+common.DryRunAnnotation)
	default:
		mirror(set, kind, f.pool, obstacle(set, kind, done))
	}
}

// obstacle returns why children are not as declared; nil if they are. It works on a copy of the conditions,
// because a condition that changes back and forth would get a new time of transition.
func obstacle(set condition.Set, kind string, done kit.Outcome) *metav1.Condition {
	trial := slices.Clone(*set.Conditions)
	set.Conditions = &trial
	done.ReportChildren(set, kind)
	c := meta.FindStatusCondition(trial, kind)
	if c == nil || c.Status == metav1.ConditionTrue {
		return nil
	}
	return c
}

// mirror sets a condition to the obstacle, or else to condition Ready of the MachineConfigPool.
func mirror(set condition.Set, kind string, found *mcfgv1.MachineConfigPool, obstacle *metav1.Condition) {
	if obstacle != nil {
		put(set, kind, obstacle)
		return
	}
	var ready *metav1.Condition
	if found != nil {
		ready = meta.FindStatusCondition(found.Status.Conditions, mcfgv1.PoolReady)
	}
	if ready == nil || ready.ObservedGeneration != found.Generation {
		set.Unknown(kind, common.ReasonApplying, "opcrew has not reconciled the MachineConfigPool of the pool yet")
		return
	}
	reported := *ready
	reported.Message = "MachineConfigPool " + found.Name + ": " + ready.Message
	put(set, kind, &reported)
}

func put(set condition.Set, kind string, c *metav1.Condition) {
	switch c.Status {
	case metav1.ConditionTrue:
		set.True(kind, c.Reason, c.Message)
	case metav1.ConditionFalse:
		set.False(kind, c.Reason, c.Message)
	default:
		set.Unknown(kind, c.Reason, c.Message)
	}
}

// configChange describes the change of the MachineConfigPool that is held back; "" if there is none.
func configChange(pool *nodesv1.NodePool, d configDecision, done kit.Outcome) string {
	switch {
	case done.Held == 0:
		return ""
	case d.declared:
		return "apply MachineConfigPool " + pool.Name + ", which configures the hosts of the nodes"
	}
	return "delete MachineConfigPool " + pool.Name + "; hosts keep their configuration"
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// Pool is a MachineConfigPool.
type Pool struct {
	Name string
	// Target is the rendered configuration; empty if it cannot be rendered.
	Target string
	// Last is the configuration that all nodes of the pool last had together; empty if there was none.
	Last string
	// RolledBack is the configuration whose update was stopped, and from which the nodes return to Last.
	RolledBack string
	// Paused is set if a user paused the pool, and Resume is what to do so that it continues.
	Paused bool
	Resume string
	// MaxUnavailable is a number or a percentage; nil means 1.
	MaxUnavailable *intstr.IntOrString
	Rollout        Policy
}

// Policy is spec.rollout of a pool.
type Policy struct {
	// Canary is set if some nodes are updated first.
	Canary bool
	// Soak is how long an updated node must be healthy before it leaves its place in the budget to another node.
	// CanarySoak is the same for canary nodes.
	Soak, CanarySoak time.Duration
	// Timeout is how long an updated node may take to become healthy.
	Timeout time.Duration
	// MaxFailures is the number of failed nodes at which the update stops. RollBack is set if the pool then returns to
	// Last.
	MaxFailures int
	RollBack    bool
}

// NewPool returns the pool of an object. target is the rendered configuration.
func NewPool(p *mcfgv1.MachineConfigPool, target string) *Pool {
	out := &Pool{
		Name: p.Name, Target: target, Last: p.Status.Configuration.Name, Paused: IsPaused(p), Resume: Resume(p),
		MaxUnavailable: p.Spec.MaxUnavailable, Rollout: newPolicy(p.Spec.Rollout),
	}
	if p.Status.RollBack != nil {
		out.RolledBack = p.Status.RollBack.From
	}
	return out
}

// IsPaused reports whether a user paused a pool, in its spec or with the annotation that pauses objects of any kind.
func IsPaused(p *mcfgv1.MachineConfigPool) bool {
	return p.Spec.Paused || common.IsSet(p.Annotations, common.PausedAnnotation)
}

// Resume returns what to do so that a paused pool continues.
func Resume(p *mcfgv1.MachineConfigPool) string {
	remove := "remove the annotation " + common.PausedAnnotation
	switch {
	case !common.IsSet(p.Annotations, common.PausedAnnotation):
		return "set spec.paused: false"
	case p.Spec.Paused:
		return "set spec.paused: false and " + remove
	}
	return remove
}

func newPolicy(r *mcfgv1.Rollout) Policy {
	out := Policy{MaxFailures: mcfgv1.DefaultMaxFailures, Timeout: duration(mcfgv1.DefaultGateTimeout, 0)}
	if r == nil {
		return out
	}
	out.Soak = duration(r.Soak, 0)
	out.CanarySoak = out.Soak
	if r.Canary != nil {
		out.Canary, out.CanarySoak = true, duration(r.Canary.Soak, out.Soak)
	}
	if r.HealthGate != nil {
		out.Timeout = duration(r.HealthGate.Timeout, out.Timeout)
	}
	if r.MaxFailures != nil {
		out.MaxFailures = int(*r.MaxFailures)
	}
	out.RollBack = r.OnFailure == mcfgv1.FailureRollBack
	return out
}

// duration parses a time; the CRD accepts only valid ones.
func duration(text string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return otherwise
}

// Goal returns the configuration that the nodes of the pool get; empty if there is none.
func (p *Pool) Goal() string { return p.goal() }

// goal returns the configuration that the nodes of the pool get.
func (p *Pool) goal() string {
	if p.RolledBack != "" && p.RolledBack == p.Target && p.Last != "" {
		return p.Last
	}
	return p.Target
}

// budget returns how many of a number of nodes may be unavailable: at least one.
func (p *Pool) budget(nodes int) int {
	most := p.MaxUnavailable
	if most == nil {
		return mcfgv1.DefaultMaxUnavailable
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(most, nodes, false)
	if err != nil {
		return mcfgv1.DefaultMaxUnavailable
	}
	return max(1, n)
}

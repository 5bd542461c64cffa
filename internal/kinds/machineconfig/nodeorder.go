// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// stepper turns the verdict about one node into changes.
type stepper struct {
	node   *corev1.Node
	facts  *nodeFacts
	is     *rollout.Node
	pool   *mcfgv1.MachineConfigPool
	now    time.Time
	action rollout.Action
	out    nodeDecision
}

// order writes the name of a configuration, and the order, in one patch. Without the configuration, the node keeps the
// order that it has.
func (s *stepper) order(config string, skipDrain bool) {
	to := s.facts.configs[config]
	if s.pool == nil {
		return
	}
	if to == nil {
		s.event("ConfigMissing", "Order", "The node keeps its configuration, because %s does not exist", config)
		return
	}
	steps := orders.Required(s.mayHave(), to, s.pool.Spec.NodeDisruptionPolicy)
	order := orders.New(to, steps, skipDrain, s.pool.Spec.DriftPolicy, orders.Peers(s.node.Name, s.facts.fleet.Nodes))
	if !s.write(order) {
		return
	}
	s.out.edit.Annotate(machineorder.DesiredConfig, config)
	s.out.edit.Annotate(nodepatch.OrderedAnnotation, nodepatch.Stamp(config, s.now))
	if s.is.Desired != config {
		s.event("Ordered", "Order", "The node changes to %s", config)
	}
}

// mayHave returns the configurations that the host may have. The agent may have begun an order without a report, and
// after a change that failed the host may have a part of either. It changes nothing before a drain or a refusal.
func (s *stepper) mayHave() []*orders.Config {
	out := []*orders.Config{s.facts.configs[s.is.Current]}
	if s.is.Phase == rollout.WantsDrain || s.is.Phase == rollout.Refused {
		return out
	}
	for _, name := range []string{s.is.Desired, nodepatch.Report(s.node).Config} {
		if name != "" && name != s.is.Current {
			out = append(out, s.facts.configs[name])
		}
	}
	return out
}

func (s *stepper) write(order machineorder.Order) bool {
	text, err := machineorder.EncodeOrder(order)
	if err != nil {
		s.event("OrderInvalid", "Order", "The node keeps its configuration: %v", err)
		return false
	}
	s.out.edit.Annotate(machineorder.OrderAnnotation, text)
	return true
}

// renew corrects an order that was changed or removed, or that has an earlier drift policy of the pool.
func (s *stepper) renew() {
	if s.is.Desired == "" || s.pool == nil {
		return
	}
	order, err := machineorder.ParseOrder(s.node.Annotations[machineorder.OrderAnnotation])
	switch {
	case err != nil || order.Config != s.is.Desired:
		s.order(s.is.Desired, s.is.Joining)
	case order.Drift != machineorder.Policy(s.pool.Spec.DriftPolicy):
		order.Drift = machineorder.Policy(s.pool.Spec.DriftPolicy)
		s.write(order)
	}
}

// tidy sets and removes what follows from the state of the node: the taints, the time of the last change, and the record
// of a cordon that another user has removed.
func (s *stepper) tidy() {
	complete := s.is.Current != "" && s.is.Current == s.is.Desired && (s.is.Phase == rollout.Idle || s.is.Phase == rollout.WantsUncordon)
	if complete && nodepatch.Updated(s.node, s.is.Current).IsZero() {
		s.out.edit.Annotate(nodepatch.UpdatedAnnotation, nodepatch.Stamp(s.is.Current, s.now))
	}
	if !s.is.Joining || complete || len(s.is.Pools) == 0 || s.waitsForUser() {
		s.out.edit.Taint(nodepatch.Startup, false)
	}
	s.out.edit.Taint(nodepatch.Updating, s.updates(complete))
	if s.action != rollout.CordonNode && s.is.Cordon == rollout.NotCordoned {
		s.out.edit.Annotate(nodepatch.CordonAnnotation, "")
	}
}

// waitsForUser reports whether a new node gets no configuration until a user ends a pause. The other nodes of its pool
// have none either, so it may run pods.
func (s *stepper) waitsForUser() bool {
	return s.pool != nil && rollout.IsPaused(s.pool) && s.pool.Status.Configuration.Name == "" && s.is.Phase == rollout.Idle
}

// updates reports whether the node has still to change, so that the scheduler prefers other nodes.
func (s *stepper) updates(complete bool) bool {
	if s.is.Joining || s.pool == nil {
		return s.is.Phase != rollout.Idle && s.is.Phase != rollout.WantsUncordon && !s.is.Joining
	}
	goal := fleet.Goal(s.pool)
	if rollout.IsPaused(s.pool) || goal == "" {
		return !complete && s.is.Phase != rollout.Idle
	}
	return !complete || s.is.Current != goal
}

func (s *stepper) event(reason, action, note string, args ...any) {
	s.out.events = append(s.out.events, kit.Event{Reason: reason, Action: action, Note: fmt.Sprintf(note, args...)})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func rollsBack(p *mcfgv1.MachineConfigPool) {
	p.Spec.Rollout = &mcfgv1.Rollout{OnFailure: mcfgv1.FailureRollBack}
}

func TestARollBackReachesNodesThatHaveTheBadConfig(t *testing.T) {
	env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	names := nodesOf(t, "back", 3)
	agents.Hinder(nil, func(node string, config hostconfig.Config) string {
		if motd(config) == "bad" && node == names[1] {
			return "the disk is full"
		}
		return ""
	})
	mc := newConfig("back", "50-back", "good")
	create(t, mc, newPool("back", rollsBack))
	first := awaitUpdated(t, "back", 3, "").Spec.Configuration.Name
	setMotd(t, mc, "bad")
	await(t, "back", "the update is rolled back", func(p *mcfgv1.MachineConfigPool) bool { return p.Status.RollBack != nil })
	for _, name := range names {
		operator.Until(t, "node "+name+" has the earlier configuration", func() error {
			n := node(t, name)
			if n.Annotations[machineorder.CurrentConfig] == first && n.Annotations[machineorder.State] == machineorder.StateDone && !n.Spec.Unschedulable {
				return nil
			}
			return fmt.Errorf("it has the annotations %v", n.Annotations)
		})
	}
	if len(agents.Drained()) != 6 {
		t.Errorf("expected three drains, one for the bad configuration, and two to return, got %v", agents.Drained())
	}
}

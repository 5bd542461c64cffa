// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"strings"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// ordered returns annotations with the order to change to a configuration.
func ordered(t *testing.T, config string) annotations {
	t.Helper()
	text, err := machineorder.EncodeOrder(machineorder.Order{Config: config, Digest: "sha256-" + strings.Repeat("0", 64)})
	if err != nil {
		t.Fatal(err)
	}
	return annotations{machineorder.DesiredConfig: config, machineorder.OrderAnnotation: text}
}

func TestANodeWithTheBadConfigIsNotIdleAfterARollBack(t *testing.T) {
	p, r := newPool(), &nodeReconciler{}
	all := fleet.Fleet{Pools: []*mcfgv1.MachineConfigPool{p}}
	if !r.isIdle(newNode("a", target, ordered(t, target)), all) {
		t.Error("expected a node with the configuration of its pool to be idle")
	}
	p.Status.RollBack = &mcfgv1.RollBack{From: target, To: p.Status.Configuration.Name}
	if r.isIdle(newNode("a", target, ordered(t, target)), all) {
		t.Error("expected a node with the bad configuration to have something to do")
	}
	if last := p.Status.Configuration.Name; !r.isIdle(newNode("b", last, ordered(t, last)), all) {
		t.Error("expected a node that has returned to be idle")
	}
}

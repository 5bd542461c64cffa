// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/orders"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// longest is what fits into an annotation.
var longest = strings.Repeat("x", 256<<10)

func sizeOf(t *testing.T, p *mcfgv1.MachineConfigPool) int {
	t.Helper()
	text, err := json.Marshal(p.Status)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func TestAgentsCannotMakeTheStatusTooLarge(t *testing.T) {
	var nodes []*corev1.Node
	for i := range 40 {
		nodes = append(nodes, newNode(fmt.Sprintf("n%02d", i), fmt.Sprint(i)+longest, annotations{machineorder.DesiredConfig: longest, machineorder.State: longest}))
	}
	f := facts{configs: map[string]*orders.Config{target: {}}}
	p := reported(newPool(), f, kit.Outcome{}, nodes...)
	if size := sizeOf(t, p); size > 100<<10 || len(p.Status.Nodes) == 0 {
		t.Errorf("expected a status of less than 100 KiB with nodes, got %d bytes and %d nodes", size, len(p.Status.Nodes))
	}
}

func TestMachineConfigsCannotMakeTheStatusTooLarge(t *testing.T) {
	to := hostconfig.Config{Name: target}
	policy := &mcfgv1.NodeDisruptionPolicy{}
	for i := range 300 {
		name := fmt.Sprintf("%03d%s", i, strings.Repeat("u", 200))
		to.KernelArguments = append(to.KernelArguments, fmt.Sprint(i)+longest[:4000])
		to.Files = append(to.Files, hostconfig.File{Entry: hostconfig.Entry{Path: "/" + name}, Append: make([][]byte, 200)})
		actions := mcfgv1.PolicyActions{{Type: mcfgv1.ActionRestart, Restart: &mcfgv1.ServiceAction{ServiceName: mcfgv1.UnitName(name + ".service")}}}
		policy.Files = append(policy.Files, mcfgv1.FilePolicy{Path: "/" + name, Actions: actions})
	}
	for _, c := range []hostconfig.Config{to, {KernelArguments: to.KernelArguments[:1]}, {Files: to.Files}} {
		pool := newPool()
		pool.Spec.NodeDisruptionPolicy = policy
		f := facts{configs: map[string]*orders.Config{target: {Config: c}, earlier: {}}}
		p := reported(pool, f, kit.Outcome{}, newNode("a", earlier, nil))
		if size := sizeOf(t, p); size > 64<<10 || len(p.Status.Plans) != 1 {
			t.Errorf("expected a status of less than 64 KiB with a plan, got %d bytes and %d plans", size, len(p.Status.Plans))
		}
	}
}

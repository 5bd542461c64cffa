// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
)

func TestMachineConfig(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    machineconfig.Kind(),
		CRDs:    []string{testenv.MachineConfigCRDs},
		Primary: &mcfgv1.MachineConfigPool{},
		Others:  []client.Object{&mcfgv1.MachineConfig{}, &corev1.Node{}, &corev1.Secret{}},
		Server:  serveMachines,
		Truth:   machinesAreUpdated,
		Invariants: []faults.Invariant{
			{Name: "no more nodes of a pool change than its budget allows", Check: machinesStayAvailable},
			{Name: "the operator removes no cordon of a user", Check: cordonsOfUsersStay},
			{Name: "the operator changes only its own keys of a node", Check: machinesAreLeftAlone},
		},
		Mask:          maskMachine,
		OperatorField: "configuration",
		Workloads:     []faults.Workload{rollingMachines, cordonedMachine},
	})
}

// serveMachines installs the admission policies, and plays the machine agents.
func serveMachines(t *testing.T, env *testenv.Env) {
	for _, file := range []string{"namespace", "agent_account", "requester", "rights"} {
		env.Apply(t, "config/machineconfig/"+file+".yaml")
	}
	eventually.True(t, eventually.Long, "the API server records requesters", func() error {
		trial := &mcfgv1.MachineConfig{}
		trial.Name = "trial"
		if err := env.Client.Create(t.Context(), trial, client.DryRunAll); err != nil {
			return err
		}
		if trial.Annotations[common.RequesterAnnotation] == "" {
			return errors.New("no policy records the requester yet")
		}
		return nil
	})
	machineagents.Follow(t, env.Client)
}

// rollingMachines gives three nodes a configuration, changes it, and removes it.
var rollingMachines = faults.Workload{
	Name:  "rolling",
	World: func(w *faults.World) { w.Nodes(3, "n", map[string]string{"node-role.kubernetes.io/steel": ""}) },
	Steps: []faults.Step{
		{
			Name:  "create a pool with a MachineConfig",
			Do:    func(u *faults.User) { u.Apply(steelConfig + "---" + steel) },
			Until: machinesHave(3, "data:,one"),
		},
		{
			Name: "change the MachineConfig",
			Do: func(u *faults.User) {
				u.Patch("50-steel", &mcfgv1.MachineConfig{}, `{"spec":{"config":{"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,two"}}]}}}}`)
			},
			Until: machinesHave(3, "data:,two"),
		},
		{
			Name:  "delete the MachineConfig",
			Do:    func(u *faults.User) { u.Delete("50-steel", &mcfgv1.MachineConfig{}) },
			Until: machinesHave(3, ""),
		},
	},
}

// cordonedMachine updates a pool with a node that a user cordoned, which follows when the user uncordons it.
var cordonedMachine = faults.Workload{
	Name: "cordoned",
	World: func(w *faults.World) {
		w.Nodes(2, "n", map[string]string{"node-role.kubernetes.io/steel": ""})
		w.Apply(steelConfig)
	},
	Steps: []faults.Step{
		{
			Name: "a user cordons n-0, and then creates the pool",
			Do: func(u *faults.User) {
				u.Patch("n-0", &corev1.Node{}, `{"spec":{"unschedulable":true}}`)
				u.Apply(steel)
				u.Patch("steel", &mcfgv1.MachineConfigPool{}, `{"spec":{"maxUnavailable":2}}`)
			},
			Until: onlyMachineHas("n-1", "n-0"),
		},
		{
			Name:  "the user uncordons n-0",
			Do:    func(u *faults.User) { u.Patch("n-0", &corev1.Node{}, `{"spec":{"unschedulable":null}}`) },
			Until: machinesHave(2, "data:,one"),
		},
	},
}

// steel keeps no earlier configurations, because their number depends on which changes the operator saw.
const steel = `
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: steel}
spec:
  historyLimit: 0
  machineConfigSelector: {matchLabels: {machineconfiguration.openshift.io/role: steel}}
  nodeSelector: {matchLabels: {node-role.kubernetes.io/steel: ""}}
`

const steelConfig = `
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata: {name: 50-steel, labels: {machineconfiguration.openshift.io/role: steel}}
spec:
  config:
    ignition: {version: 3.4.0}
    storage: {files: [{path: /etc/motd, contents: {source: "data:,one"}}]}
`

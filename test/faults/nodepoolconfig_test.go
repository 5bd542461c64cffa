// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// TestNodePoolWithConfigs attacks NodePools with spec.machineConfigSelector. Their nodes are not configured, because the
// operator under attack serves only NodePool.
func TestNodePoolWithConfigs(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:    nodepool.Kind(),
		CRDs:    []string{testenv.ProjectCRDs, testenv.MachineConfigCRDs},
		Primary: &nodesv1.NodePool{},
		Others:  []client.Object{&corev1.Node{}, &nodev1.RuntimeClass{}, &mcfgv1.MachineConfigPool{}},
		Server:  recordPoolRequesters,
		Truth:   poolIsAsWanted,
		Invariants: []faults.Invariant{
			{Name: "a MachineConfigPool of the operator has an existing owner", Check: configPoolsHaveOwners},
			{Name: "the operator changes no MachineConfigPool of another owner", Check: foreignConfigPoolsStay},
		},
		Mask:      maskNode,
		Touch:     taintNode,
		Workloads: []faults.Workload{configured, takenConfigPool},
	})
}

// recordPoolRequesters installs the admission policies of NodePool, and waits until they are in force.
func recordPoolRequesters(t *testing.T, env *testenv.Env) {
	for _, file := range []string{"nodepool_requester", "nodepool_rights"} {
		env.Apply(t, "config/cluster/"+file+".yaml")
	}
	eventually.True(t, eventually.Long, "the API server records requesters", func() error {
		trial := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "trial"}}
		trial.Spec.MachineConfigSelector = tier("a")
		if err := env.Client.Create(t.Context(), trial, client.DryRunAll); err != nil {
			return err
		}
		if trial.Annotations[common.RequesterAnnotation] == "" {
			return errors.New("no policy records the requester yet")
		}
		return nil
	})
}

func tier(value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": value}}
}

// configured sets the selector of a NodePool, changes it, removes it, and deletes the NodePool with it.
var configured = faults.Workload{
	Name:  "configured",
	World: func(w *faults.World) { w.Nodes(1, "n", map[string]string{"node-role.kubernetes.io/gold": ""}) },
	Steps: []faults.Step{
		{
			Name:  "create a pool with a selector",
			Do:    func(u *faults.User) { u.Apply(gold + "  machineConfigSelector: {matchLabels: {tier: a}}\n") },
			Until: all(configPool("gold", "a"), condition("gold", "Unknown", common.ReasonApplying)),
		},
		{
			Name: "change the selector",
			Do: func(u *faults.User) {
				u.Patch("gold", &nodesv1.NodePool{}, `{"spec":{"machineConfigSelector":{"matchLabels":{"tier":"b"}}}}`)
			},
			Until: all(configPool("gold", "b"), condition("gold", "Unknown", common.ReasonApplying)),
		},
		{
			Name:  "remove the selector",
			Do:    func(u *faults.User) { u.Patch("gold", &nodesv1.NodePool{}, `{"spec":{"machineConfigSelector":null}}`) },
			Until: all(noConfigPool("gold"), poolReady("gold", 1)),
		},
		{
			Name: "set it again",
			Do: func(u *faults.User) {
				u.Patch("gold", &nodesv1.NodePool{}, `{"spec":{"machineConfigSelector":{"matchLabels":{"tier":"a"}}}}`)
			},
			Until: configPool("gold", "a"),
		},
		{
			Name:  "delete the pool",
			Do:    func(u *faults.User) { u.Delete("gold", &nodesv1.NodePool{}) },
			Until: all(noConfigPool("gold"), poolGone("gold")),
		},
	},
}

// takenConfigPool sets the selector of a NodePool while another owner has a MachineConfigPool with its name.
var takenConfigPool = faults.Workload{
	Name:  "taken-config-pool",
	World: func(w *faults.World) { w.Apply(theirs) },
	Steps: []faults.Step{
		{
			Name:  "create a pool with a selector",
			Do:    func(u *faults.User) { u.Apply(gold + "  machineConfigSelector: {matchLabels: {tier: a}}\n") },
			Until: all(configPool("gold", "theirs"), condition("gold", "False", "NameTaken")),
		},
		{
			Name:  "delete the pool",
			Do:    func(u *faults.User) { u.Delete("gold", &nodesv1.NodePool{}) },
			Until: all(configPool("gold", "theirs"), poolGone("gold")),
		},
	},
}

const theirs = `
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfigPool
metadata: {name: gold}
spec: {machineConfigSelector: {matchLabels: {tier: theirs}}}
`

// configPool returns a condition that holds if a MachineConfigPool selects MachineConfigs of a tier.
func configPool(name, value string) func(faults.View) error {
	return func(v faults.View) error {
		found := &mcfgv1.MachineConfigPool{}
		if err := v.Get(name, found); err != nil {
			return err
		}
		if !equality.Semantic.DeepEqual(found.Spec.MachineConfigSelector, tier(value)) {
			return fmt.Errorf("MachineConfigPool %s selects %v", name, found.Spec.MachineConfigSelector)
		}
		return nil
	}
}

func noConfigPool(name string) func(faults.View) error {
	return func(v faults.View) error { return v.Gone(name, &mcfgv1.MachineConfigPool{}) }
}

// configPoolsHaveOwners holds if the operator creates a MachineConfigPool only for an existing NodePool.
func configPoolsHaveOwners(before, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "MachineConfigPool" || !e.New || e.Write == "" {
		return nil
	}
	for _, pool := range before.Objects("NodePool") {
		if metav1.IsControlledBy(e.Object, pool) {
			return nil
		}
	}
	return errors.New("its NodePool does not exist")
}

// foreignConfigPoolsStay holds if the operator writes only MachineConfigPools that a NodePool controls.
func foreignConfigPoolsStay(before, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "MachineConfigPool" || e.New || e.Write == "" {
		return nil
	}
	was := &mcfgv1.MachineConfigPool{}
	if err := before.Get(e.Key.Name, was); err != nil {
		return err // the MachineConfigPool is not new, so it existed before
	}
	if metav1.GetControllerOf(was) == nil {
		return errors.New("no NodePool controls it")
	}
	return nil
}

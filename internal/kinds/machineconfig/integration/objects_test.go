// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// roleOf returns the label of nodes that belong to a pool.
func roleOf(pool string) map[string]string {
	return map[string]string{"node-role.kubernetes.io/" + pool: ""}
}

type poolOption func(*mcfgv1.MachineConfigPool)

func newPool(name string, options ...poolOption) *mcfgv1.MachineConfigPool {
	p := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: roleOf(name)}
	p.Spec.MachineConfigSelector = &metav1.LabelSelector{MatchLabels: map[string]string{mcfgv1.RoleLabel: name}}
	for _, o := range options {
		o(p)
	}
	return p
}

func isPaused(p *mcfgv1.MachineConfigPool) { p.Spec.Paused = true }

func most(n int) poolOption {
	return func(p *mcfgv1.MachineConfigPool) { v := intstr.FromInt32(int32(n)); p.Spec.MaxUnavailable = &v }
}

// needsNothing makes changes of /etc/motd need no action.
func needsNothing(p *mcfgv1.MachineConfigPool) {
	none := mcfgv1.PolicyActions{{Type: mcfgv1.ActionNone}}
	p.Spec.NodeDisruptionPolicy = &mcfgv1.NodeDisruptionPolicy{Files: []mcfgv1.FilePolicy{{Path: "/etc/motd", Actions: none}}}
}

// newConfig returns a MachineConfig of a pool that writes /etc/motd.
func newConfig(pool, name, motd string) *mcfgv1.MachineConfig {
	mc := &mcfgv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{mcfgv1.RoleLabel: pool}}}
	mc.Spec.Config.Raw = ignition("data:," + motd)
	return mc
}

func ignition(source string) []byte {
	return fmt.Appendf(nil, `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":%q}}]}}`, source)
}

// create creates objects, and deletes them when the test ends.
func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := env.Client.Create(t.Context(), o); err != nil {
			t.Fatalf("creating %s: %v", o.GetName(), err)
		}
		t.Cleanup(func() {
			if err := client.IgnoreNotFound(env.Client.Delete(context.WithoutCancel(t.Context()), o)); err != nil {
				t.Error(err)
			}
		})
	}
}

func nodesOf(t *testing.T, pool string, n int) []string {
	t.Helper()
	return env.Nodes(t, n, testenv.NodeSpec{Prefix: pool, Labels: roleOf(pool)})
}

// merge changes an object with a JSON merge patch.
func merge(t *testing.T, object client.Object, patch string) {
	t.Helper()
	if err := env.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

func setMotd(t *testing.T, mc *mcfgv1.MachineConfig, motd string) {
	t.Helper()
	merge(t, mc, `{"spec":{"config":`+string(ignition("data:,"+motd))+`}}`)
}

func node(t *testing.T, name string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name}, n); err != nil {
		t.Fatal(err)
	}
	return n
}

func pool(t *testing.T, name string) *mcfgv1.MachineConfigPool {
	t.Helper()
	p := &mcfgv1.MachineConfigPool{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name}, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// awaitUpdated waits until all nodes of a pool have its present configuration, and returns the pool. source is a
// MachineConfig whose content the configuration must have; nil if any is right.
func awaitUpdated(t *testing.T, name string, nodes int, after string) *mcfgv1.MachineConfigPool {
	t.Helper()
	return await(t, name, fmt.Sprintf("all %d nodes of pool %s have another configuration than %q", nodes, name, after), func(p *mcfgv1.MachineConfigPool) bool {
		return p.Spec.Configuration.Name != after && p.Status.Configuration.Name == p.Spec.Configuration.Name && int(p.Status.ReadyMachineCount) == nodes &&
			is(p, mcfgv1.PoolUpdated) && is(p, mcfgv1.PoolReady)
	})
}

func await(t *testing.T, name, what string, holds func(*mcfgv1.MachineConfigPool) bool) *mcfgv1.MachineConfigPool {
	t.Helper()
	var p *mcfgv1.MachineConfigPool
	operator.Until(t, what, func() error {
		if p = pool(t, name); holds(p) && p.Status.ObservedGeneration == p.Generation {
			return nil
		}
		text, _ := json.Marshal(p.Status)
		return fmt.Errorf("%s has the status %s", p.Spec.Configuration.Name, text)
	})
	return p
}

func condition(p *mcfgv1.MachineConfigPool, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(p.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func is(p *mcfgv1.MachineConfigPool, kind string) bool {
	return condition(p, kind).Status == metav1.ConditionTrue
}

// expectSettled checks that a node has a configuration, and nothing that is left of an update.
func expectSettled(t *testing.T, name, config string) {
	t.Helper()
	n := node(t, name)
	if n.Annotations[machineorder.CurrentConfig] != config || n.Spec.Unschedulable || hasOurTaint(n) || n.Annotations["opcrew.io/machine-cordoned"] != "" {
		t.Errorf("expected node %s to have %s, and neither a cordon nor taints, got annotations %v, unschedulable %t, taints %v",
			name, config, n.Annotations, n.Spec.Unschedulable, n.Spec.Taints)
	}
}

// hasOurTaint reports whether a node has a taint that opcrew sets. The node controller has taints of its own.
func hasOurTaint(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == mcfgv1.UpdateTaint || taint.Key == "opcrew.io/machine-not-configured"
	})
}

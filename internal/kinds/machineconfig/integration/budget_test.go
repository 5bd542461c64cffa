// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
)

func TestAsManyNodesAsMaxUnavailableChangeAtATime(t *testing.T) {
	env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	nodesOf(t, "wide", 8)
	create(t, newConfig("wide", "50-wide", "x"), newPool("wide", most(3)))
	awaitUpdated(t, "wide", 8, "")
	if agents.MostBusy() > 3 || agents.MostBusy() < 2 {
		t.Errorf("expected up to three nodes at a time, got %d", agents.MostBusy())
	}
}

func TestControlPlaneNodesChangeOneAtATimeWhateverTheBudget(t *testing.T) {
	env.Operator(t)
	agents := machineagents.Follow(t, env.Client)
	labels := map[string]string{"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/masters": ""}
	env.Nodes(t, 3, testenv.NodeSpec{Prefix: "cp", Labels: labels})
	create(t, newConfig("masters", "50-masters", "x"), newPool("masters", most(3)))
	awaitUpdated(t, "masters", 3, "")
	if agents.MostBusy() != 1 {
		t.Errorf("expected one control-plane node at a time, got %d", agents.MostBusy())
	}
}

func TestControlPlaneNodesWaitForEtcd(t *testing.T) {
	env.Operator(t)
	machineagents.Follow(t, env.Client)
	labels := map[string]string{"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/etcd-hosts": ""}
	names := env.Nodes(t, 1, testenv.NodeSpec{Prefix: "etcd-host", Labels: labels})
	sick := &corev1.Pod{}
	sick.Namespace, sick.Name, sick.Labels = "kube-system", "etcd-sick", map[string]string{"component": "etcd", "tier": "control-plane"}
	sick.Spec = corev1.PodSpec{NodeName: names[0], Containers: []corev1.Container{{Name: "etcd", Image: testenv.MissingImage}}}
	create(t, sick, newConfig("etcd-hosts", "50-etcd", "x"), newPool("etcd-hosts"))
	await(t, "etcd-hosts", "the node waits for etcd", func(p *mcfgv1.MachineConfigPool) bool {
		return condition(p, mcfgv1.PoolRolloutBlocked).Reason == mcfgv1.ReasonEtcdUnhealthy
	})
	if err := env.Client.Delete(t.Context(), sick); err != nil {
		t.Fatal(err)
	}
	awaitUpdated(t, "etcd-hosts", 1, "")
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

const noEffect = "False NotEffective"

// A user should not learn only from a dead machine that the remediation of a pool cannot work.
func TestAPoolWarnsBeforeAMachineIsDead(t *testing.T) {
	s := newSite(t, "warns")
	s.create("true", "echo off")
	s.await(nodesv1.NodePoolRemediation, "True NoDeadNodes")
	outsider := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: s.name + "-outside"}}
	s.must(env.Client.Create(t.Context(), outsider))
	t.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(t.Context()), outsider) })

	s.change(`{"spec":{"remediation":{"minHealthy":3}}}`)
	p := s.await(nodesv1.NodePoolRemediation, noEffect, "minHealthy (3) requires 3 Ready nodes, and the pool has 3")
	t.Log(conditionMessage(p, nodesv1.NodePoolRemediation))
	p = s.await(nodesv1.NodePoolReady, "True AsWanted", "3 nodes up to date, 3 ready, but see condition Remediation")
	t.Log(conditionMessage(p, nodesv1.NodePoolReady))
	s.operator.ExpectNoWork(func() { s.change(`{"metadata":{"labels":{"note":"a"}}}`) })
	env.Rests(t)

	s.change(`{"spec":{"remediation":{"minHealthy":1,"fence":{"onNodes":{"bmc":"yes"}}}}}`)
	s.await(nodesv1.NodePoolRemediation, noEffect, "No node has the labels in spec.remediation.fence.onNodes")
	s.label(outsider, `"yes"`)
	s.await(nodesv1.NodePoolRemediation, "True NoDeadNodes")
	s.await(nodesv1.NodePoolReady, "True AsWanted", "3 nodes up to date, 3 ready")
	s.label(outsider, "null")
	s.await(nodesv1.NodePoolRemediation, noEffect, "spec.remediation.fence.onNodes")
}

func TestAPoolWarnsThatASecretIsMissing(t *testing.T) {
	s := newSite(t, "secrets")
	s.create("true", "echo off")
	s.change(`{"spec":{"remediation":{"fence":{"secretEnvs":[{"name":"PASSWORD","secret":"bmc","key":"password"}]}}}}`)
	p := s.await(nodesv1.NodePoolRemediation, noEffect, "Secret bmc in namespace opcrew-activities does not exist")
	t.Log(conditionMessage(p, nodesv1.NodePoolRemediation))

	bmc := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: activities, Name: "bmc"}, StringData: map[string]string{"user": "ada"}}
	s.must(env.Client.Create(t.Context(), bmc))
	t.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(t.Context()), bmc) })
	s.change(`{"spec":{"remediation":{"maxAttempts":3}}}`)
	p = s.await(nodesv1.NodePoolRemediation, noEffect, "has no key password")
	t.Log(conditionMessage(p, nodesv1.NodePoolRemediation))

	// Without a change of the pool, the Secret is looked for every minute.
	bmc.Data = map[string][]byte{"password": []byte("a")}
	s.must(env.Client.Update(t.Context(), bmc))
	s.await(nodesv1.NodePoolRemediation, "True NoDeadNodes")
	mark := env.Audit.Mark(t)
	s.change(`{"metadata":{"labels":{"note":"a"}}}`)
	if calls := env.Settled(t, mark).On("secrets"); len(calls) > 0 {
		t.Errorf("expected no request for Secrets that exist, got:\n%s", calls)
	}
	s.operator.ExpectNoWork(func() { s.change(`{"metadata":{"labels":{"note":"b"}}}`) })
	env.Rests(t)
}

// label sets or removes the label bmc of a node.
func (s *site) label(n *corev1.Node, value string) {
	s.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"bmc":`+value+`}}}`))
	s.must(env.Client.Patch(s.Context(), n, patch))
}

func conditionMessage(p *nodesv1.NodePool, kind string) string {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Message
		}
	}
	return ""
}

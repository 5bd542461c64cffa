// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// article is the path of the manifest in the tutorial article that the AppService API comes from.
const article = "test/crds/testdata/appservices/accept/article.yaml"

// kubectl runs kubectl as a user would.
func (s *shop) kubectl(args ...string) string {
	s.Helper()
	args = append([]string{"--kubeconfig", env.Kubeconfig, "--namespace", s.ns}, args...)
	out, err := exec.CommandContext(s.Context(), filepath.Join(env.Root, "bin", "kubectl"), args...).CombinedOutput()
	if err != nil {
		s.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestTheArticlesManifestAppliesUnchangedAndBecomesReady(t *testing.T) {
	t.Run("kubectl apply", func(t *testing.T) { expectTheArticle(t) })
	t.Run("kubectl apply --server-side", func(t *testing.T) { expectTheArticle(t, "--server-side") })
}

func expectTheArticle(t *testing.T, flags ...string) {
	t.Helper()
	s := newShop(t)
	s.name = "nginx-app"
	apply := func() { s.kubectl(append([]string{"apply", "-f", filepath.Join(env.Root, article)}, flags...)...) }
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	apply()
	s.awaitReady(2)
	writes := env.Settled(t, mark).Writes()
	t.Logf("writes: %v", writes.Tally())
	want := map[string]int{"patch services": 1, "patch deployments": 1, "patch poddisruptionbudgets": 1, "patch appservices/status": 2}
	if diff := cmp.Diff(want, writes.Tally()); diff != "" {
		t.Errorf("not the writes that it takes (-expected +found):\n%s\n%s", diff, writes)
	}
	s.expectTheArticlesChildren()
	mark = env.Audit.Mark(t)
	apply()
	if calls := env.Settled(t, mark); len(calls) > 0 {
		t.Errorf("expected the same manifest applied again to cost no call, got:\n%s", calls)
	}
}

// expectTheArticlesChildren checks that opcrew creates the objects that readers of the tutorial article about
// AppService expect.
func (s *shop) expectTheArticlesChildren() {
	s.Helper()
	service, pods, budget := &corev1.Service{}, &appsv1.Deployment{}, &policyv1.PodDisruptionBudget{}
	s.read(service)
	s.read(pods)
	s.read(budget)
	if port := service.Spec.Ports[0]; service.Spec.Type != corev1.ServiceTypeNodePort || port.Port != 80 || port.TargetPort.IntValue() != 80 || port.NodePort != 30002 {
		s.Errorf("expected Service nginx-app at port 30002 of every node, got %s %+v", service.Spec.Type, port)
	}
	if container := pods.Spec.Template.Spec.Containers[0]; *pods.Spec.Replicas != 2 || container.Name != "nginx-app" || container.Ports[0].ContainerPort != 80 {
		s.Errorf("expected Deployment nginx-app of two pods with container nginx-app at port 80, got %+v", pods.Spec)
	}
	if budget.Spec.MaxUnavailable.IntValue() != 1 {
		s.Errorf("expected drains to take one pod at a time, got %+v", budget.Spec)
	}
}

func TestASecondLookAndARestartWriteNothingAndAtRestThereIsNoCall(t *testing.T) {
	s := newShop(t)
	s.create(2, withPorts(http))
	s.awaitReady(2)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)

	mark := env.Audit.Mark(t)
	s.edit(annotated("example.com/note", "x"))
	if calls := env.Settled(t, mark); len(calls) > 0 {
		t.Errorf("expected no call for an annotation of another owner, got:\n%s", calls)
	}
	s.operator.Stop()
	mark = env.Audit.Mark(t)
	s.operator.Start()
	calls := env.Settled(t, mark)
	t.Logf("a restart: %v", calls.Tally())
	if writes := calls.Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}
	env.Rests(t)
}

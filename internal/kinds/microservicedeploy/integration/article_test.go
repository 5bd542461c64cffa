// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
)

// article is the path of a manifest from the tutorial article that this API comes from.
const article = "test/crds/testdata/microservicedeploys/accept/article.yaml"

func TestTheArticlesManifestAppliesUnchangedAndTheMessageSaysWhatAnImageIs(t *testing.T) {
	t.Run("kubectl apply", func(t *testing.T) { expectTheArticle(t) })
	t.Run("kubectl apply --server-side", func(t *testing.T) { expectTheArticle(t, "--server-side") })
}

func expectTheArticle(t *testing.T, flags ...string) {
	t.Helper()
	s := newShop(t)
	s.name = "ms-sample-v1s0"
	apply := func() { s.kubectl(append([]string{"apply", "-f", filepath.Join(env.Root, article)}, flags...)...) }
	apply()
	s.await(ready, "False InvalidImage", placeholder, "registry.example.com/team/app:1.0")
	s.await(customv1.MicroServiceDeployConfigWarning, "True LooksSecret", "(password)")
	s.settled()
	if pods := s.pods(); len(pods) > 0 || s.there(&appsv1.Deployment{}) {
		t.Errorf("expected no pods of an image that is none, got %d", len(pods))
	}
	mark := env.Audit.Mark(t)
	apply()
	if calls := env.Settled(t, mark); len(calls) > 0 {
		t.Errorf("expected the same manifest applied again to cost no call, got:\n%s", calls)
	}
	s.edit(withImage(oldImage))
	s.awaitReady(3)
	s.expectTheArticlesChildren()
}

// expectTheArticlesChildren checks that opcrew created exactly the objects that the article lists. The article is the
// tutorial article that this API comes from.
func (s *shop) expectTheArticlesChildren() {
	s.Helper()
	service, scaler, quota := &corev1.Service{}, &autoscalingv2.HorizontalPodAutoscaler{}, &corev1.ResourceQuota{}
	s.read(service)
	s.read(scaler)
	s.read(&corev1.ServiceAccount{})
	s.named("opcrew-microservices").read(quota)
	if port := service.Spec.Ports[0]; port.Port != 80 || port.TargetPort.StrVal != "http" {
		s.Errorf("expected the Service at port 80, got %+v", port)
	}
	if *scaler.Spec.MinReplicas != 3 || scaler.Spec.MaxReplicas != 6 || scaler.Spec.ScaleTargetRef.Name != s.name {
		s.Errorf("expected an autoscaler from 3 to 6 pods, got %+v", scaler.Spec)
	}
	// The quota covers six pods and two surge pods. Each pod requests 2 CPUs, and 20m for its proxy.
	if cpu := quota.Spec.Hard["requests.cpu"]; cpu.String() != "16160m" {
		s.Errorf("expected a quota of 16160m of CPU, got %s", cpu.String())
	}
	if configs := s.configs(); len(configs) != 1 {
		s.Errorf("expected one configuration, got %v", configs)
	}
}

func TestFromCreationToReadyThereIsAWriteForEachChildAndTwoOfStatus(t *testing.T) {
	plain := map[string]int{
		"patch services": 1, "patch serviceaccounts": 1, "patch deployments": 1, "patch microservicedeploys/status": 2,
		"patch resourcequotas": 1, // the first MicroServiceDeploy of a namespace creates the quota
	}
	with := func(more map[string]int) map[string]int {
		all := maps.Clone(plain)
		maps.Copy(all, more)
		return all
	}
	for name, test := range map[string]struct {
		options []option
		want    map[string]int
	}{
		"plain":         {nil, plain},
		"without quota": {[]option{quotaMode(customv1.QuotaNone)}, map[string]int{"patch services": 1, "patch serviceaccounts": 1, "patch deployments": 1, "patch microservicedeploys/status": 2}},
		"three pods":    {[]option{withReplicas(3)}, with(map[string]int{"patch poddisruptionbudgets": 1})},
		"configuration": {[]option{withConfig("a=1")}, with(map[string]int{"patch configmaps": 1})},
		"as Secret":     {[]option{withConfig("a=1"), asSecret}, with(map[string]int{"patch secrets": 1})},
		"host name":     {[]option{hosted("v1")}, with(map[string]int{"patch ingresses": 1})},
		// The autoscaler reports whether it has metrics. opcrew needs one more status write for this report, except if
		// the report comes before the pods are ready.
		"autoscaling": {[]option{autoscaled(true), asks("100m")}, with(map[string]int{"patch horizontalpodautoscalers": 1, "patch poddisruptionbudgets": 1, "patch microservicedeploys/status": 3})},
		"auth":        {[]option{needAuth(true)}, with(map[string]int{"patch networkpolicies": 1, "patch secrets": 1})},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.settled()
			mark := env.Audit.Mark(t)
			s.create(test.options...)
			s.await(ready, "True AllPodsReady")
			if test.want["patch horizontalpodautoscalers"] > 0 {
				s.await(customv1.MicroServiceDeployAutoscaled, "Unknown NoMetrics", "The autoscaler cannot change the number of pods")
			}
			calls := env.Settled(t, mark)
			t.Logf("calls: %v", calls.Tally())
			found := calls.Writes().Tally()
			if status := "patch microservicedeploys/status"; test.want[status] == 3 && found[status] == 2 {
				found[status] = 3
			}
			if diff := cmp.Diff(test.want, found); diff != "" {
				t.Errorf("not the writes that it takes (-expected +found):\n%s\n%s", diff, calls.Writes())
			}
			env.Rests(t)
		})
	}
}

func TestASecondLookAndARestartWriteNothingAndAtRestThereIsNoCall(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), withConfig("a=1"), autoscaled(true), asks("100m"), needAuth(true), hosted("v1"))
	s.awaitReady(2)
	s.settled()
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

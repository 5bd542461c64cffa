// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv"
)

// counts starts to record each number of replicas that the Deployment gets. The returned function returns them.
func (s *shop) counts() func() []int32 {
	s.Helper()
	watch, err := env.Client.Watch(s.Context(), &appsv1.DeploymentList{}, client.InNamespace(s.ns))
	if err != nil {
		s.Fatal(err)
	}
	var mu sync.Mutex
	var seen []int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watch.ResultChan() {
			d, ok := event.Object.(*appsv1.Deployment)
			mu.Lock()
			if ok && d.Name == s.name && (len(seen) == 0 || seen[len(seen)-1] != *d.Spec.Replicas) {
				seen = append(seen, *d.Spec.Replicas)
			}
			mu.Unlock()
		}
	}()
	return func() []int32 {
		s.settled() // after this, the watch has received the last event
		watch.Stop()
		<-done
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

func TestTurningAutoscalingOnAndOffNeverDipsTheNumberOfPods(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(3), asks("100m"))
	s.awaitReady(3)
	s.settled()
	counts := s.counts()
	s.edit(autoscaled(true))
	s.awaitReady(3)
	s.await(customv1.MicroServiceDeployAutoscaled, "Unknown NoMetrics", "The autoscaler cannot change the number of pods")
	s.settled()

	mark := env.Audit.Mark(t)
	s.scaleDeployment(5)
	s.expectServing(s.await(ready, "True AllPodsReady", "5 of 5"), 5, oldImage)
	if writes := childWrites(env.Settled(t, mark)); len(writes) > 0 {
		t.Errorf("expected a step of the autoscaler to cost no write, got:\n%s", writes)
	}
	s.edit(withImage(newImage))
	s.expectServing(s.await(ready, "True AllPodsReady", "5 of 5"), 5, newImage)
	s.edit(autoscaled(false))
	s.expectServing(s.await(ready, "True AllPodsReady", "3 of 3"), 3, newImage)
	if s.there(&autoscalingv2.HorizontalPodAutoscaler{}) {
		t.Error("expected the autoscaler to be gone")
	}
	if got := counts(); !slices.Equal(got, []int32{3, 5, 3}) {
		t.Errorf("expected 3 pods, the autoscaler's 5, and 3 again, got %v", got)
	}
}

func TestAutoscalingWithoutRequestsIsReported(t *testing.T) {
	s := newShop(t)
	s.create(autoscaled(true))
	s.await(ready, "False NoRequests", "set spec.resourceRequirements.requests.cpu")
	s.edit(asks("100m"))
	s.awaitReady(1)
}

func TestIdleTakesTheAutoscalerAwayBeforeThePodsAndBringsThemBack(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), autoscaled(true), asks("100m"), func(m *instance) { m.Spec.MaxReplicas = new(int32(8)) })
	s.awaitReady(2)
	s.scaleDeployment(5)
	s.await(ready, "True AllPodsReady", "5 of 5")
	s.settled()
	counts, mark := s.counts(), env.Audit.Mark(t)
	s.edit(idle(true))
	m := s.await(ready, "True Idle", "5 pods start when spec.idle is removed")
	if m.Status.Replicas != 0 || len(s.pods()) > 0 {
		t.Errorf("expected no pods, got %+v", m.Status)
	}
	writes := childWrites(env.Settled(t, mark))
	var order []string
	for _, call := range writes {
		order = append(order, call.Verb+" "+call.Resource)
	}
	away, none := slices.Index(order, "delete horizontalpodautoscalers"), lastIndex(order, "patch deployments")
	if away < 0 || none < away {
		t.Errorf("expected the autoscaler to go before the pods, got %v", order)
	}
	s.await(customv1.MicroServiceDeployQuotaEnforced, "True ScaledToZero")
	if s.named("opcrew-microservices").there(quotaObject()) {
		t.Error("expected the share of the quota to be given back")
	}
	env.Rests(t)
	s.operator.Stop() // the number of pods must survive a restart of the operator
	s.operator.Start()
	s.edit(idle(false))
	s.expectServing(s.await(ready, "True AllPodsReady", "5 of 5"), 5, oldImage)
	s.await(customv1.MicroServiceDeployAutoscaled, "Unknown NoMetrics")
	if got := counts(); !slices.Equal(got, []int32{5, 0, 5}) {
		t.Errorf("expected 5 pods, none, and 5 again, got %v", got)
	}
}

func lastIndex(list []string, item string) int {
	for i, other := range slices.Backward(list) {
		if other == item {
			return i
		}
	}
	return -1
}

func TestIdleWithoutAutoscaling(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), idle(true))
	s.await(ready, "True Idle", "2 pods start when spec.idle is removed")
	if pods := s.pods(); len(pods) > 0 {
		t.Errorf("expected no pods from the beginning, got %d", len(pods))
	}
	s.edit(idle(false), withReplicas(3))
	s.awaitReady(3)
	s.edit(idle(true))
	s.await(ready, "True Idle", "3 pods start when spec.idle is removed")
	s.edit(idle(false))
	s.awaitReady(3)
}

func TestScaleUpDownToZeroAndBackCostsOneWriteOfTheDeployment(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), quotaMode(customv1.QuotaNone))
	s.awaitReady(2)
	s.settled()
	for _, size := range []int{4, 2, 0, 3} {
		mark := env.Audit.Mark(t)
		s.kubectl("scale", "msd/web", fmt.Sprint("--replicas=", size))
		s.awaitReady(size)
		writes := childWrites(env.Settled(t, mark))
		others := writes.Where(func(c testenv.Call) bool { return c.Resource != "poddisruptionbudgets" })
		if len(others) != 1 || others[0].Resource != "deployments" {
			t.Errorf("to %d: expected one write of the Deployment, got:\n%s", size, writes)
		}
	}
	if out := s.kubectl("get", "msd", "web"); !strings.Contains(out, "AllPodsReady") || !strings.Contains(out, "READYPODS") {
		t.Errorf("expected a table that distinguishes a healthy object from a sick one, got:\n%s", out)
	}
}

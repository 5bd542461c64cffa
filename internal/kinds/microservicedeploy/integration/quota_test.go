// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const enforced = customv1.MicroServiceDeployQuotaEnforced

func quotaObject() *corev1.ResourceQuota { return &corev1.ResourceQuota{} }

// tenantsQuota returns a copy of s that reads the ResourceQuota that all MicroServiceDeploys of the namespace share.
func (s *shop) tenantsQuota() *shop { return s.named("opcrew-microservices") }

// awaitHard waits until the quota limits pods and CPU to exactly these values; "" means that there is no quota.
func (s *shop) awaitHard(pods, cpu string) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("the quota %s allows %q pods and %q cpu", s.name, pods, cpu), func() error {
		q := quotaObject()
		if !s.there(q) {
			q.Spec.Hard = nil
		}
		got := map[string]string{}
		for name, amount := range q.Spec.Hard {
			got[string(name)] = amount.String()
		}
		want := map[string]string{}
		if pods != "" {
			want["pods"] = pods
		}
		if cpu != "" {
			want["requests.cpu"] = cpu
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
}

// bound creates a ResourceQuota of the user and waits until it is in force.
func (s *shop) bound(name string, hard corev1.ResourceList) {
	s.Helper()
	q := quotaObject()
	q.Name, q.Spec.Hard = name, hard
	s.make(q)
	operator.Until(s.T, "the quota is in force", func() error {
		if s.named(name).read(q); len(q.Status.Hard) == 0 {
			return fmt.Errorf("its status is %+v", q.Status)
		}
		return nil
	})
}

func TestTheTenantsQuotaIsTheSumOverItsInstances(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), asks("100m"))
	s.awaitReady(2)
	s.tenantsQuota().awaitHard("3", "300m")
	s.await(enforced, "True Enforced")
	api := s.named("api")
	api.create(withReplicas(4), asks("200m"))
	api.awaitReady(4)
	s.tenantsQuota().awaitHard("8", "1300m")
	none := s.named("none")
	none.create() // this MicroServiceDeploy requests no CPU, so a quota that limits CPU would reject its pods
	none.awaitReady(1)
	s.tenantsQuota().awaitHard("10", "")
	none.delete()
	none.awaitNothing()
	s.tenantsQuota().awaitHard("8", "1300m")
	api.edit(withReplicas(1))
	api.awaitReady(1)
	s.tenantsQuota().awaitHard("5", "700m")
	api.edit(asks("500m")) // opcrew must raise the quota first; otherwise the quota would reject the new pods
	api.awaitReady(1)
	s.tenantsQuota().awaitHard("5", "1300m")
	api.edit(asks("50m"))
	api.awaitReady(1)
	s.tenantsQuota().awaitHard("5", "400m")
	s.edit(quotaMode(customv1.QuotaNone))
	s.awaitWithout(enforced)
	s.tenantsQuota().awaitHard("5", "400m") // the quota stays as long as one MicroServiceDeploy requests it
	api.edit(quotaMode(customv1.QuotaNone))
	s.tenantsQuota().awaitHard("", "")
	api.edit(quotaMode(""))
	s.tenantsQuota().awaitHard("5", "400m")
	api.delete()
	s.delete()
	s.awaitNothing()
	s.tenantsQuota().awaitHard("", "")
}

// Before each change of pods, the API server must already enforce the quota that allows the change.
func TestNoPodOfAnInstanceIsEverRefusedByTheTenantsQuota(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(3), asks("100m"))
	s.awaitReady(3)
	for _, change := range []option{asks("300m"), withReplicas(6), withImage(newImage), asks("10m"), withReplicas(2), needAuth(true), autoscaled(true), autoscaled(false), idle(true), idle(false), needAuth(false)} {
		s.edit(change)
		s.await(rolled, "True "+map[bool]string{true: "ScaledToZero", false: "AllPodsReady"}[s.get().Spec.Idle])
		s.settled()
	}
	events := &corev1.EventList{}
	if err := env.Client.List(t.Context(), events, client.InNamespace(s.ns), client.MatchingFields{"reason": "FailedCreate"}); err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Items {
		// If two pods are created at the same time, Kubernetes retries at once (kubernetes/kubernetes#67761).
		if !strings.Contains(e.Message, "the object has been modified") {
			t.Errorf("expected no pod to be refused, got: %s", e.Message)
		}
	}
}

func TestWherePodsOfOthersRunThereIsNoQuotaUnlessTheNamespaceOptsIn(t *testing.T) {
	for name, labels := range map[string]map[string]string{
		"unowned":         nil,
		"of another kind": {"app.kubernetes.io/managed-by": "opcrew", "app.kubernetes.io/name": "appservice"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			unrelated := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
			unrelated.Name, unrelated.Labels = "unrelated", labels
			s.make(unrelated)
			s.create(asks("100m"))
			s.awaitReady(1)
			s.await(enforced, "False QuotaNotEnforced", "opcrew.io/quota=true")
			s.tenantsQuota().awaitHard("", "")
			s.kubectl("label", "namespace", s.ns, "opcrew.io/quota=true")
			s.await(enforced, "True Enforced")
			s.tenantsQuota().awaitHard("2", "200m")
			s.kubectl("label", "namespace", s.ns, "opcrew.io/quota-")
			s.await(enforced, "False QuotaNotEnforced")
			s.tenantsQuota().awaitHard("", "")
			s.settled()
			env.Rests(t)
		})
	}
}

func TestPodsOfARuntimeClassThatCostsMoreFitIntoTheQuota(t *testing.T) {
	s := newShop(t)
	class := &nodev1.RuntimeClass{Handler: "runc", Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("250m")}}}
	class.Name = s.ns
	s.make(class)
	// An error does not matter, because the API server is stopped after the tests.
	t.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(t.Context()), class) })
	s.create(withReplicas(2), asks("100m"), func(m *customv1.MicroServiceDeploy) { m.Spec.Pod = &common.PodOverride{RuntimeClassName: s.ns} })
	s.awaitReady(2)
	s.tenantsQuota().awaitHard("3", "1050m")
}

func TestAQuotaByPriorityClassIsThereAmongOthersAndCountsNoneOfThem(t *testing.T) {
	s := newShop(t)
	unrelated := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
	unrelated.Name = "unrelated"
	s.make(unrelated)
	s.create(withReplicas(2), asks("100m"), quotaMode(customv1.QuotaPriorityClass))
	s.awaitReady(2)
	s.await(enforced, "True Enforced", "opcrew-microservices-by-class", "and no other pods")
	quota := s.named("opcrew-microservices-by-class")
	quota.awaitHard("3", "300m")
	operator.Until(s.T, "the quota counts the two pods and no other", func() error {
		q := quotaObject()
		quota.read(q)
		if used := q.Status.Used[corev1.ResourcePods]; used.String() != "2" {
			return fmt.Errorf("it counts %s", used.String())
		}
		return nil
	})
	s.edit(asks("300m"), withImage(newImage))
	s.awaitReady(2)
	quota.awaitHard("3", "900m")
	s.edit(quotaMode(customv1.QuotaNone))
	s.awaitWithout(enforced)
	quota.awaitHard("", "")
	s.awaitReady(2)
	s.settled()
	env.Rests(t)
}

func TestARolloutThatDoesNotFitIntoAQuotaSaysSoAndBeginsWhenThereIsRoom(t *testing.T) {
	s := newShop(t)
	s.bound("small", corev1.ResourceList{"requests.cpu": resource.MustParse("250m")})
	s.create(withReplicas(2), asks("100m"))
	s.awaitReady(2)
	s.settled()
	pods, mark := s.all(), env.Audit.Mark(t)
	s.edit(withImage(newImage))
	m := s.await(ready, "False QuotaTooSmall", "ResourceQuota small", "100m requests.cpu, 50m free", "The rollout starts when the quota has room", "the 2 running pods stay unchanged")
	if m.Status.ReadyReplicas != 2 || m.Status.Revision != 1 {
		t.Errorf("expected two pods of revision 1 to serve, got %+v", m.Status)
	}
	s.edit(withImage(oldImage))
	s.awaitReady(2)
	if writes := env.Settled(t, mark); len(ownWrites(writes)) > 0 {
		t.Errorf("expected a rollout that waits and is taken back to write no child, got:\n%s", writes)
	}
	s.edit(withImage(newImage))
	s.await(ready, "False QuotaTooSmall")
	for name, uid := range s.all() {
		if pods[name] != uid {
			t.Errorf("expected %s to be left alone", name)
		}
	}
	s.edit(withReplicas(1)) // scaling down frees quota for the rollout
	s.awaitReady(1)
	s.edit(withReplicas(2))
	s.awaitReady(2)
	s.edit(withImage(oldImage))
	s.await(ready, "False QuotaTooSmall")
	s.named("small").patch(quotaObject(), `{"spec":{"hard":{"requests.cpu":"300m"}}}`)
	s.awaitReady(2) // opcrew must retry without a change of the spec
}

func TestWhyTheTenantsCredentialsCannotBeMadeIsReported(t *testing.T) {
	s := newShop(t)
	s.bound("few", corev1.ResourceList{"secrets": resource.MustParse("0")})
	s.create(needAuth(true))
	s.await(ready, "False Refused", "opcrew is creating the credentials that all instances of the namespace share; this is delayed", "exceeded quota: few")
	s.named("few").patch(quotaObject(), `{"spec":{"hard":{"secrets":"1"}}}`)
	s.awaitReady(1) // opcrew must retry without a change of the spec
}

func TestWhyTheTenantsQuotaCannotBeMadeIsReported(t *testing.T) {
	s := newShop(t)
	s.bound("few", corev1.ResourceList{"resourcequotas": resource.MustParse("1")})
	s.create(asks("100m"))
	s.awaitReady(1)
	s.await(enforced, "Unknown Refused", "opcrew is creating the ResourceQuota; this is delayed", "exceeded quota: few")
	s.named("few").patch(quotaObject(), `{"spec":{"hard":{"resourcequotas":"2"}}}`)
	s.await(enforced, "True Enforced")
	s.settled()
	env.Rests(t)
}

func TestAQuotaOfAnotherOwnerIsLeftAloneAndReported(t *testing.T) {
	s := newShop(t)
	s.bound("opcrew-microservices", corev1.ResourceList{"pods": resource.MustParse("5")})
	s.create(asks("100m"))
	s.awaitReady(1)
	s.await(enforced, "Unknown NameTaken", "opcrew-microservices")
	s.tenantsQuota().awaitHard("5", "")
}

func TestAQuotasRefusalIsReportedInItsWords(t *testing.T) {
	s := newShop(t)
	s.bound("web", corev1.ResourceList{"pods": resource.MustParse("1")})
	s.create(withReplicas(2))
	s.await(ready, "False PodsMissing", "1 of 2 pods are ready", "exceeded quota: web")
	s.patch(quotaObject(), `{"spec":{"hard":{"pods":"5"}}}`)
	s.awaitReady(2)
}

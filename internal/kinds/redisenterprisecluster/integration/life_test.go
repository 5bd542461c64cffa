// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// A new cluster takes ten writes: two Secrets, a NetworkPolicy, two Services, a ConfigMap, a budget, a StatefulSet, and
// two updates of the status, one when the cluster starts and one when it is ready.
func TestFromCreationToReadyThereAreTenWrites(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			env.Settled(t, env.Audit.Mark(t))
			mark, begin := env.Audit.Mark(t), time.Now()
			s.create(options...)
			s.awaitWhole()
			// On a slow machine, the operator may report progress in additional status updates.
			statuses := 2 + int(time.Since(begin)/(10*time.Second))
			writes := env.Settled(t, mark).Writes()
			want := map[string]int{
				"create secrets": 2, "patch networkpolicies": 1, "patch services": 2, "patch configmaps": 1, "patch poddisruptionbudgets": 1, "patch statefulsets": 1,
				"patch redisenterpriseclusters/status": 2,
			}
			if reported := writes.Tally()["patch redisenterpriseclusters/status"]; reported <= statuses {
				want["patch redisenterpriseclusters/status"] = reported
			}
			t.Logf("writes: %v", writes.Tally())
			if diff := cmp.Diff(want, writes.Tally()); diff != "" {
				t.Errorf("not the writes that it takes (-expected +found):\n%s\n%s", diff, writes)
			}
		})
	}
}

func TestASecondLookAndARestartWriteNothingAndAtRestThereIsNoCall(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	done := env.Settled(t, mark)
	t.Logf("a restart: %v", done.Tally())
	if writes := done.Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}
	env.Rests(t)
}

func TestDriftOfEachChildIsRepairedWithOneWriteAndWhatOthersSetSurvives(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	before := uids(s.pods())
	for resource, test := range map[string]struct {
		name, drift string
		object      client.Object
		repaired    func(client.Object) bool
	}{
		"services": {"rec", `{"spec":{"publishNotReadyAddresses":false}}`, &corev1.Service{}, func(o client.Object) bool {
			return o.(*corev1.Service).Spec.PublishNotReadyAddresses
		}},
		"configmaps": {"rec-config", `{"data":{"redis.conf":"appendonly no","theirs":"x"}}`, &corev1.ConfigMap{}, func(o client.Object) bool {
			data := o.(*corev1.ConfigMap).Data
			return data["redis.conf"] == "" && data["theirs"] == "x"
		}},
		"networkpolicies": {"rec-network", `{"spec":{"ingress":[{}]}}`, &networkingv1.NetworkPolicy{}, func(o client.Object) bool {
			ingress := o.(*networkingv1.NetworkPolicy).Spec.Ingress
			return len(ingress) == 3 && ingress[1].Ports[0].Port.IntValue() == 16379 && len(ingress[1].From) == 1
		}},
		"poddisruptionbudgets": {"rec", `{"spec":{"maxUnavailable":2}}`, &policyv1.PodDisruptionBudget{}, func(o client.Object) bool {
			return o.(*policyv1.PodDisruptionBudget).Spec.MaxUnavailable.IntValue() == 1
		}},
		"secrets": {"rec", `{"data":{"username":"eA==","theirs":"eA=="}}`, &corev1.Secret{}, func(o client.Object) bool {
			data := o.(*corev1.Secret).Data
			return string(data["username"]) == redisv1alpha1.DefaultUsername && string(data["theirs"]) == "x"
		}},
		"statefulsets": {"rec", `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":1}}}}`, &appsv1.StatefulSet{}, func(o client.Object) bool {
			return *o.(*appsv1.StatefulSet).Spec.Template.Spec.TerminationGracePeriodSeconds == redisv1alpha1.DefaultGracePeriodSeconds
		}},
	} {
		t.Run(resource, func(t *testing.T) {
			s := s.in(t)
			s.read(test.name, test.object)
			s.patch(test.object, `{"metadata":{"labels":{"theirs":"x"}}}`)
			env.Settled(t, env.Audit.Mark(t))
			mark := env.Audit.Mark(t)
			s.patch(test.object, test.drift)
			operator.Until(t, resource+" is as declared again", func() error {
				if s.read(test.name, test.object); !test.repaired(test.object) {
					return fmt.Errorf("it is %+v", test.object)
				}
				return nil
			})
			writes := env.Settled(t, mark).Writes().Where(func(c testenv.Call) bool { return c.Resource != "redisenterpriseclusters" })
			if len(writes) != 1 || test.object.GetLabels()["theirs"] != "x" {
				t.Errorf("expected one write, and labels of others to survive, got %v and:\n%s", test.object.GetLabels(), writes)
			}
		})
	}
	s.awaitWhole()
	if diff := cmp.Diff(before, uids(s.pods())); diff != "" {
		t.Errorf("expected all pods to go on (-before +after):\n%s", diff)
	}
}

func uids(pods []corev1.Pod) map[string]string {
	out := map[string]string{}
	for _, pod := range pods {
		out[pod.Name] = string(pod.UID)
	}
	return out
}

// owned returns an empty list for each kind of child that a cluster has.
func owned() []client.ObjectList {
	return []client.ObjectList{
		&appsv1.StatefulSetList{}, &corev1.PodList{}, &corev1.ServiceList{}, &corev1.SecretList{}, &policyv1.PodDisruptionBudgetList{}, &networkingv1.NetworkPolicyList{},
	}
}

func TestADeletedClusterLeavesItsClaimsAloneAndChangesNothingOfOthers(t *testing.T) {
	s := newSite(t)
	service, secret := &corev1.Service{}, &corev1.Secret{}
	service.Spec.Ports = []corev1.ServicePort{{Port: 1}}
	for _, theirs := range []client.Object{service, secret} {
		theirs.SetNamespace(s.ns)
		theirs.SetName("theirs")
		if err := env.Client.Create(t.Context(), theirs); err != nil {
			t.Fatal(err)
		}
	}
	s.create(withClaims)
	s.awaitWhole()
	s.write(300)
	claims := s.claims()
	s.remove()
	operator.Until(t, "all that was made has gone, but for the claims", func() error {
		for _, list := range owned() {
			if left := s.left(list); left != "" {
				return fmt.Errorf("%T: %s is there", list, left)
			}
		}
		return nil
	})
	if now := s.claims(); len(now) != 3 || now[0].UID != claims[0].UID || len(now[0].OwnerReferences) > 0 {
		t.Errorf("expected the three claims to stay, without an owner, got %+v", now)
	}
	for _, theirs := range []client.Object{service, secret} {
		version := theirs.GetResourceVersion()
		if s.read("theirs", theirs); theirs.GetResourceVersion() != version {
			t.Errorf("expected nothing of others to change, got %+v", theirs)
		}
	}
	s.create(withClaims)
	s.awaitWhole() // expects all written data to be found
}

// remove deletes the cluster, and waits until it is gone.
func (s *site) remove() {
	s.Helper()
	c := s.get()
	s.delete(c)
	operator.Until(s.T, "the cluster is gone", func() error {
		if err := env.Client.Get(s.Context(), client.ObjectKeyFromObject(c), c); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("it is there (%w)", err)
		}
		return nil
	})
}

// left returns the name of the first listed object that the operator should have deleted; "" if there is none.
func (s *site) left(list client.ObjectList) string {
	s.Helper()
	found := &metav1.PartialObjectMetadataList{}
	kinds, _, err := env.Client.Scheme().ObjectKinds(list)
	if err != nil {
		s.Fatal(err)
	}
	found.SetGroupVersionKind(kinds[0])
	if err := env.Client.List(s.Context(), found, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	for _, object := range found.Items {
		if object.Name != "theirs" {
			return object.Name
		}
	}
	return ""
}

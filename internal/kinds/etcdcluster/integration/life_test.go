// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// A cluster of three needs these writes: a NetworkPolicy, two Services, a ConfigMap, a budget, three pods with one
// later patch each, and three statuses (created, quorum reached, ready).
func TestFromCreationToReadyThereAreFourteenWritesAndThreeMoreForClaims(t *testing.T) {
	plain := map[string]int{
		"patch networkpolicies": 1, "patch services": 2, "patch configmaps": 1, "patch poddisruptionbudgets": 1, "patch pods": 6, "patch etcdclusters/status": 3,
	}
	claims := map[string]int{"patch persistentvolumeclaims": 3}
	for name, more := range map[string]map[string]int{"emptyDir": nil, "claims": claims} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			env.Settled(t, env.Audit.Mark(t))
			mark := env.Audit.Mark(t)
			var options []option
			want := map[string]int{}
			for _, part := range []map[string]int{plain, more} {
				maps.Copy(want, part)
			}
			if more != nil {
				options = append(options, withClaims)
			}
			s.create(options...)
			s.awaitWhole()
			writes := env.Settled(t, mark).Writes()
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
	env.Settled(t, env.Audit.Mark(t))
	for resource, test := range map[string]struct {
		name, drift string
		object      client.Object
		repaired    func(client.Object) bool
	}{
		"services": {"db", `{"spec":{"publishNotReadyAddresses":false}}`, &corev1.Service{}, func(o client.Object) bool {
			return o.(*corev1.Service).Spec.PublishNotReadyAddresses
		}},
		"configmaps": {"db-connection", `{"data":{"endpoints":"elsewhere","theirs":"x"}}`, &corev1.ConfigMap{}, func(o client.Object) bool {
			data := o.(*corev1.ConfigMap).Data
			return strings.HasPrefix(data["endpoints"], "http://db-client.") && data["theirs"] == "x"
		}},
		"networkpolicies": {"db-network", `{"spec":{"ingress":[{}]}}`, &networkingv1.NetworkPolicy{}, func(o client.Object) bool {
			ingress := o.(*networkingv1.NetworkPolicy).Spec.Ingress
			return len(ingress) == 2 && ingress[1].Ports[0].Port.IntValue() == 2380 && len(ingress[1].From) == 1
		}},
		"poddisruptionbudgets": {"db", `{"spec":{"minAvailable":1}}`, &policyv1.PodDisruptionBudget{}, func(o client.Object) bool {
			return o.(*policyv1.PodDisruptionBudget).Spec.MinAvailable.IntValue() == 2
		}},
	} {
		t.Run(resource, func(t *testing.T) {
			read := func() {
				if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: test.name}, test.object); err != nil {
					t.Fatal(err)
				}
			}
			read()
			s.patch(test.object, `{"metadata":{"labels":{"theirs":"x"}}}`)
			env.Settled(t, env.Audit.Mark(t))
			mark := env.Audit.Mark(t)
			s.patch(test.object, test.drift)
			operator.Until(t, resource+" is as declared again", func() error {
				if read(); !test.repaired(test.object) {
					return fmt.Errorf("it is %+v", test.object)
				}
				return nil
			})
			writes := env.Settled(t, mark).Writes().Where(func(c testenv.Call) bool { return c.Resource != "etcdclusters" })
			if len(writes) != 1 || test.object.GetLabels()["theirs"] != "x" {
				t.Errorf("expected one write, and labels of others to survive, got %v and:\n%s", test.object.GetLabels(), writes)
			}
		})
	}
}

func TestAClusterGrowsAndShrinksOneMemberAtATime(t *testing.T) {
	s := newSite(t)
	s.create(sized(1))
	first := s.awaitWhole()
	for _, size := range []int32{3, 5, 3, 1} {
		s.edit(sized(size))
		if c := s.awaitWhole(); c.Status.ClusterID != first.Status.ClusterID {
			t.Fatalf("expected it to stay the same cluster, got %s after %s", c.Status.ClusterID, first.Status.ClusterID)
		}
	}
	t.Logf("changes: %q", store.Changes(string(first.UID)))
	budgets := &policyv1.PodDisruptionBudgetList{}
	if err := env.Client.List(t.Context(), budgets, client.InNamespace(s.ns)); err != nil || len(budgets.Items) != 0 {
		t.Errorf("expected no budget at size 1, got %d (%v)", len(budgets.Items), err)
	}
}

func TestADeletedPodIsReplacedWithoutClaimsAndComesBackWithThem(t *testing.T) {
	for name, test := range map[string]struct {
		options []option
		same    bool
	}{
		"emptyDir": {nil, false}, "claims": {[]option{withClaims}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(test.options...)
			s.awaitWhole()
			before := s.pods()
			s.delete(&before[0])
			operator.Until(t, "the pod has gone", func() error {
				for _, pod := range s.pods() {
					if pod.UID == before[0].UID {
						return fmt.Errorf("it is there")
					}
				}
				return nil
			})
			s.awaitWhole()
			if same := slices.Contains(names(s.pods()), before[0].Name); same != test.same {
				t.Errorf("expected the same member to be back: %v, got pods %q after %q", test.same, names(s.pods()), names(before))
			}
		})
	}
}

func TestAnUpgradeGoesOverEveryMinorVersionOneMemberAtATime(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	before := s.pods()
	s.edit(versioned("3.6.16"))
	c := s.awaitWhole()
	if c.Status.CurrentVersion != "3.6.16" || c.Status.TargetVersion != "" {
		t.Errorf("expected version 3.6.16, got %q on the way to %q", c.Status.CurrentVersion, c.Status.TargetVersion)
	}
	for _, pod := range s.pods() {
		if pod.Annotations["etcd.version"] != "3.6.16" || !slices.ContainsFunc(before, func(old corev1.Pod) bool { return old.UID == pod.UID }) {
			t.Errorf("expected pod %s to be changed in place, it is of version %s", pod.Name, pod.Annotations["etcd.version"])
		}
	}
	s.edit(versioned("3.5.35"))
	s.await("False ImpossibleVersion", "a downgrade to 3.5.35 is not possible")
	s.edit(versioned("3.6.16"))
	s.awaitWhole()
}

// Regression: etcd 3.7 could not read the logs of members that were created with 3.5 and had received few writes since.
func TestAQuietClusterBegunOn35GoesTo37AndOneBegunOn36AtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		options []option
		restart bool
		entries uint64
	}{
		"begun on 3.5, emptyDir":                           {nil, false, 10_000},
		"begun on 3.5, claims, by one process and another": {[]option{withClaims}, true, 10_000},
		"begun on 3.6":                                     {[]option{versioned("3.6.16")}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(test.options...)
			s.awaitWhole()
			before := store.Advanced()
			if test.restart {
				// etcd carries out the step, but its first response is lost.
				store.Break(etcdtest.Fault{Call: "Advance", After: true})
			}
			s.edit(versioned("3.7.3"))
			if test.restart {
				operator.Until(t, "some entries are passed", func() error {
					if store.Advanced() == before {
						return errors.New("none is yet")
					}
					return nil
				})
				s.operator.Stop()
				t.Logf("the process ended after %d entries", store.Advanced()-before)
				s.operator.Start()
			}
			c := s.awaitWhole()
			if c.Status.CurrentVersion != "3.7.3" {
				t.Errorf("expected version 3.7.3, got %q", c.Status.CurrentVersion)
			}
			got := store.Advanced() - before
			if t.Logf("%d entries were passed", got); got < test.entries || got > test.entries+test.entries/10 {
				t.Errorf("expected some %d entries to be passed, got %d", test.entries, got)
			}
		})
	}
}

func TestAnotherFieldRecreatesPodsOneAtATime(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(options...)
			s.awaitWhole()
			s.edit(func(c *etcdv1beta2.EtcdCluster) {
				if c.Spec.Pod == nil {
					c.Spec.Pod = &etcdv1beta2.PodPolicy{}
				}
				c.Spec.Pod.EtcdEnv = []etcdv1beta2.EnvVar{{Name: "ETCD_QUOTA_BACKEND_BYTES", Value: "1000000"}}
			})
			s.awaitWhole()
			for _, pod := range s.pods() {
				if len(pod.Spec.Containers[0].Env) != 1 {
					t.Errorf("expected pod %s to have the new variable", pod.Name)
				}
			}
		})
	}
}

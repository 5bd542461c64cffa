// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestTheChildrenOfTheArticlesObjectAndOfOneWithAllFields(t *testing.T) {
	for _, name := range []string{"article", "all-fields"} {
		t.Run(name, func(t *testing.T) {
			m := manifest(t, name+".yaml")
			golden.Check(t, name+"-networkpolicy.yaml", networkPolicy(m))
			golden.Check(t, name+"-service.yaml", service(m))
			golden.Check(t, name+"-configmap.yaml", serverList(m))
			golden.Check(t, name+"-statefulset.yaml", statefulSet(m))
			golden.Check(t, name+"-poddisruptionbudget.yaml", disruptionBudget(m))
		})
	}
}

func TestThePlanHasFiveChildrenAndNoneForAnObjectThatGoes(t *testing.T) {
	children := planAt(newMemcached(3), facts{}, someTime).Children
	if len(children) != 5 {
		t.Errorf("expected NetworkPolicy, Service, ConfigMap, StatefulSet and PodDisruptionBudget, got %d children", len(children))
	}
	if _, first := children[0].Object.(*networkingv1ac.NetworkPolicyApplyConfiguration); !first {
		t.Errorf("expected the NetworkPolicy to be written before the servers start, got %T first", children[0].Object)
	}
	going := newMemcached(3)
	going.DeletionTimestamp = &metav1.Time{Time: someTime}
	if plan := planAt(going, facts{}, someTime); len(plan.Children) > 0 || plan.Again > 0 {
		t.Errorf("expected nothing to be done for an object that goes, got %+v", plan)
	}
}

func TestAChangeOfAccessRestartsNoServer(t *testing.T) {
	before, after := newMemcached(3), newMemcached(3)
	after.Spec.Access = common.Access{{PodSelector: &metav1.LabelSelector{}}}
	same(t, "what servers are restarted for", settings(before), settings(after))
}

func TestThePlanLooksAgainWhenTheSearchForMissingPodsGoesOn(t *testing.T) {
	if got := planAt(newMemcached(3), facts{Members: workload.Members{Refusal: workload.Refusal{Again: 4 * time.Second}}}, someTime).Again; got != 4*time.Second {
		t.Errorf("expected another look after 4 s, got %s", got)
	}
}

func TestNamesOfServersStandInTheOrderOfTheirOrdinals(t *testing.T) {
	m := newMemcached(12)
	m.Spec.Port = new(int32(11212))
	names := servers(m, 12)
	if names[2] != "web-2.web.shop.svc:11212" || names[11] != "web-11.web.shop.svc:11212" {
		t.Errorf("expected <pod>.<name>.<namespace>.svc:<port>, by number and not by letter, got %q", names)
	}
	for n := range int32(12) {
		if !slices.Equal(servers(m, n), names[:n]) {
			t.Errorf("expected the first %d of the list, so that a resize adds to its end or takes from it, got %q", n, servers(m, n))
		}
	}
	m.Spec.Size = 12
	same(t, "the list to mount", strings.Join(names, "\n"), serverList(m).Data["servers"])
	m.Spec.Size = 0
	same(t, "the list to mount of size 0", map[string]string{"servers": ""}, serverList(m).Data)
	if got := podNames(m, 0); got == nil || len(got) > 0 {
		t.Errorf("expected an empty list of pods and not none, got %v", got)
	}
}

func TestTheLimitOfAServerCoversItsItemsAndWhatItNeedsBeside(t *testing.T) {
	for name, test := range map[string]struct {
		memory      string
		connections int32
		m, limit    string
	}{
		"defaults: 64Mi, an eighth, 32Mi and 1024 times 16Ki": {"", 0, "64", "120Mi"},
		"the smallest":                          {"8Mi", 1, "8", "42Mi"}, // 41Mi and 16Ki, rounded up
		"a gibibyte":                            {"1Gi", 1024, "1024", "1200Mi"},
		"many connections":                      {"64Mi", 1000000, "64", "15729Mi"},
		"a decimal unit is rounded down for -m": {"100M", 1024, "95", "162914560"},
		"a fraction":                            {"1.5Gi", 1024, "1536", "1776Mi"},
		"the largest":                           {"1Ti", 1024, "1048576", "1179696Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemcached(1)
			if test.memory != "" {
				m.Spec.Memory = new(resource.MustParse(test.memory))
			}
			if test.connections > 0 {
				m.Spec.MaxConnections = &test.connections
			}
			c := container(m)
			same(t, "memcached -m", []string{"-m", test.m}, c.Args[:2])
			limit, want := (*c.Resources.Limits)["memory"], resource.MustParse(test.limit)
			if limit.Cmp(want) != 0 {
				t.Errorf("expected a limit of %s, got %s", want.String(), limit.String())
			}
			if request := (*c.Resources.Requests)["memory"]; request.Cmp(limit) != 0 {
				t.Errorf("expected all of the limit to be requested, got %s of %s: a full cache is not evicted", request.String(), limit.String())
			}
		})
	}
}

// Without its selector labels, a pod would no longer belong to the Service. The labels in the selector are immutable,
// so an override must not change them.
func TestAnOverrideCannotTakeAPodFromItsService(t *testing.T) {
	m := newMemcached(1)
	m.Spec.Pod = &common.PodOverride{Labels: map[string]string{nameLabel: "other", instanceLabel: "other", common.ManagedByLabel: "helm", "team": "shop"}}
	got := statefulSet(m).Spec.Template.Labels
	for key, value := range labels(newMemcached(1)) {
		if got[key] != value {
			t.Errorf("expected label %s=%s to stay, got %q", key, value, got[key])
		}
	}
	if got["team"] != "shop" {
		t.Errorf("expected the user's own label too, got %v", got)
	}
}

func TestAnExporterOfNoImageHasTheDefaultOne(t *testing.T) {
	m := newMemcached(1)
	if got := len(statefulSet(m).Spec.Template.Spec.Containers); got != 1 {
		t.Errorf("expected no exporter unless it is asked for, got %d containers", got)
	}
	m.Spec.Exporter = &cachev1alpha1.Exporter{}
	m.Spec.Port = new(int32(2000))
	exporter := statefulSet(m).Spec.Template.Spec.Containers[1]
	same(t, "the exporter's image", cachev1alpha1.DefaultExporterImage, *exporter.Image)
	same(t, "the exporter's server", []string{"--memcached.address=localhost:2000"}, exporter.Args)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
)

func TestWhatOnePodAsksFor(t *testing.T) {
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		want []string
	}{
		"nothing":                     {newInstance(), []string{"pods=1"}},
		"requests":                    {newInstance(asks("requests.cpu=1", "requests.memory=1Gi")), []string{"pods=1", "requests.cpu=1", "requests.memory=1Gi"}},
		"limits are requests too":     {newInstance(asks("limits.cpu=2")), []string{"pods=1", "requests.cpu=2", "limits.cpu=2"}},
		"both":                        {newInstance(asks("requests.cpu=1", "limits.cpu=2")), []string{"pods=1", "requests.cpu=1", "limits.cpu=2"}},
		"nothing, with a proxy":       {newInstance(needsAuth), []string{"pods=1"}},
		"requests, with a proxy":      {newInstance(needsAuth, asks("requests.cpu=1")), []string{"pods=1", "requests.cpu=1020m"}},
		"both, with a proxy":          {newInstance(needsAuth, asks("requests.cpu=1", "limits.cpu=2", "limits.memory=1Gi")), []string{"pods=1", "requests.cpu=1020m", "limits.cpu=3", "requests.memory=1056Mi", "limits.memory=1120Mi"}},
		"what is not counted here":    {newInstance(asks("requests.ephemeral-storage=1Gi")), []string{"pods=1"}},
		"more than all machines have": {newInstance(asks("requests.cpu=900P")), []string{"pods=1", "requests.cpu=900P"}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "amounts of a pod of the spec", written(quota(test.want...)), written(perPod(test.m)))
			spec := corev1.PodSpec{Containers: []corev1.Container{{Name: names.MainContainer, Resources: resourcesOf(test.m)}}}
			if test.m.Spec.NeedAuth {
				proxy := corev1.Container{Name: auth.ProxyContainer, Resources: corev1.ResourceRequirements{Requests: auth.ProxyResources, Limits: auth.ProxyLimits}}
				spec.InitContainers, spec.Containers = []corev1.Container{{Name: "once"}}, append(spec.Containers, proxy)
			}
			same(t, "amounts of a pod that runs", written(quota(test.want...)), written(perPodOf(spec)))
		})
	}
}

func TestWhatAnInstanceNeedsWithThePodsOfARollout(t *testing.T) {
	one := asks("requests.cpu=1")
	live := func(replicas int32, options ...option) *appsv1.Deployment {
		return newDeployment(newInstance(options...), replicas)
	}
	half := live(4, one)
	half.Status.UpdatedReplicas = 2
	heavy := live(1, one, ofClass("vm"))
	heavy.Spec.Template.Spec.RuntimeClassName = new("vm")
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		live *appsv1.Deployment
		want []string
	}{
		"one, and one beside":        {newInstance(one), nil, []string{"pods=2", "requests.cpu=2"}},
		"four, and one beside":       {newInstance(one, withReplicas(4)), nil, []string{"pods=5", "requests.cpu=5"}},
		"five, and two beside":       {newInstance(one, withReplicas(5)), nil, []string{"pods=7", "requests.cpu=7"}},
		"as many as the load wants":  {newInstance(one, withReplicas(2), upTo(8)), nil, []string{"pods=10", "requests.cpu=10"}},
		"none":                       {newInstance(one, withReplicas(0)), nil, nil},
		"none, autoscaled":           {newInstance(one, withReplicas(0), upTo(8)), nil, nil},
		"idle":                       {newInstance(one, withReplicas(4), idle), live(0, one), nil},
		"idle, pods are still there": {newInstance(one, withReplicas(4), idle), live(4, one), []string{"pods=5", "requests.cpu=5"}},
		"it shrinks":                 {newInstance(one, withReplicas(1)), live(4, one), []string{"pods=5", "requests.cpu=5"}},
		"its pods grow":              {newInstance(asks("requests.cpu=3")), live(1, one), []string{"pods=3", "requests.cpu=9"}},
		"its pods get smaller":       {newInstance(one), live(1, asks("requests.cpu=3")), []string{"pods=3", "requests.cpu=9"}},
		"it begins to ask":           {newInstance(one), live(1), []string{"pods=3"}},
		"it asks no more":            {newInstance(), live(1, one), []string{"pods=3"}},
		// Regression: the quota had no room for new pods while old pods were terminating.
		"its pods are to be replaced":    {newInstance(one, withReplicas(4), withImage("other")), live(4, one), []string{"pods=9", "requests.cpu=9"}},
		"its pods are being replaced":    {newInstance(one, withReplicas(4)), half, []string{"pods=9", "requests.cpu=9"}},
		"they stay with a bad image":     {newInstance(one, withReplicas(4), withImage("just a image url")), live(4, one), []string{"pods=5", "requests.cpu=5"}},
		"they may be replaced any time":  {newInstance(one, withReplicas(4), configFrom), live(4, one, configFrom), []string{"pods=9", "requests.cpu=9"}},
		"it is woken":                    {newInstance(one), live(0, asks("requests.cpu=3")), []string{"pods=2", "requests.cpu=6"}},
		"a class that costs more":        {newInstance(one, ofClass("vm")), nil, []string{"pods=2", "requests.cpu=3"}},
		"limits that stand for requests": {newInstance(asks("limits.memory=1.5Gi"), ofClass("vm")), nil, []string{"pods=2", "limits.memory=5Gi", "requests.memory=5Gi"}},
		"pods that cost more still run":  {newInstance(one), heavy, []string{"pods=3", "requests.cpu=4500m"}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "need", written(quota(test.want...)), written(Need(test.m, test.live, Overheads{"vm": {"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")}})))
		})
	}
}

func TestTheSumBoundsOnlyWhatAllThatHavePodsAskFor(t *testing.T) {
	for name, test := range map[string]struct {
		needs []Amounts
		want  []string
	}{
		"of no one":                {nil, nil},
		"of one":                   {[]Amounts{quota("pods=2", "requests.cpu=1")}, []string{"pods=2", "requests.cpu=1"}},
		"of two":                   {[]Amounts{quota("pods=2", "requests.cpu=1"), quota("pods=3", "requests.cpu=500m")}, []string{"pods=5", "requests.cpu=1500m"}},
		"not all ask":              {[]Amounts{quota("pods=2", "requests.cpu=1"), quota("pods=3"), quota("pods=1", "requests.cpu=1")}, []string{"pods=6"}},
		"who has none is left out": {[]Amounts{{}, quota("pods=2", "requests.cpu=1"), {}}, []string{"pods=2", "requests.cpu=1"}},
		"all have none":            {[]Amounts{{}, {}}, nil},
	} {
		before := make([]map[string]string, len(test.needs))
		for i := range test.needs {
			before[i] = written(test.needs[i])
		}
		same(t, name, written(quota(test.want...)), written(sum(test.needs)))
		for i := range test.needs {
			same(t, name+": what it was given", before[i], written(test.needs[i]))
		}
	}
}

func TestAQuotaCoversWhatItBoundsHighEnough(t *testing.T) {
	for name, test := range map[string]struct {
		hard, wanted []string
		want         bool
	}{
		"nothing is bounded":    {nil, []string{"pods=2"}, true},
		"as much":               {[]string{"pods=2"}, []string{"pods=2", "requests.cpu=1"}, true},
		"more":                  {[]string{"pods=3", "requests.cpu=2"}, []string{"pods=2", "requests.cpu=1"}, true},
		"less":                  {[]string{"pods=3", "requests.cpu=500m"}, []string{"pods=2", "requests.cpu=1"}, false},
		"what no one asks for":  {[]string{"pods=3", "limits.cpu=9"}, []string{"pods=2"}, false},
		"written in other ways": {[]string{"requests.memory=1Gi"}, []string{"requests.memory=1024Mi"}, true},
	} {
		if got := covers(quota(test.hard...), quota(test.wanted...)); got != test.want {
			t.Errorf("%s: expected %v, got %v", name, test.want, got)
		}
	}
}

func TestWhatAQuotaLacksIsReportedInWords(t *testing.T) {
	q := &corev1.ResourceQuota{}
	q.Status.Hard, q.Status.Used = quota("cpu=2", "memory=1Gi", "limits.cpu=3", "pods=5", "services=1"), quota("cpu=1600m", "memory=1Gi", "pods=4")
	same(t, "what is left", written(quota("requests.cpu=400m", "requests.memory=0", "limits.cpu=3", "pods=1", "services=1")), written(free(q)))
	for name, test := range map[string]struct {
		wanted []string
		want   string
	}{
		"the issue's example": {[]string{"requests.cpu=1200m"}, "1200m requests.cpu, 400m free"},
		"it fits":             {[]string{"requests.cpu=400m", "pods=1"}, ""},
		"not bounded":         {[]string{"limits.memory=9Gi"}, ""},
		"the first of two":    {[]string{"requests.cpu=1", "requests.memory=1Mi"}, "1 requests.cpu, 400m free"},
		"nothing left at all": {[]string{"requests.memory=1Mi"}, "1Mi requests.memory, 0 free"},
	} {
		same(t, name, test.want, short(quota(test.wanted...), free(q)))
	}
	q.Status.Used = quota("cpu=5")
	if got := short(quota("requests.cpu=1"), free(q)); got != "1 requests.cpu, -3 free" && got != "1 requests.cpu, 0 free" {
		t.Errorf("expected words for a quota that is exceeded already, got %q", got)
	}
}

func TestARolloutHasAQuarterMoreRoundedUp(t *testing.T) {
	for pods, want := range map[int32]int32{1: 1, 3: 1, 4: 1, 5: 2, 8: 2, 9: 3, 1000: 250} {
		if got := surge(pods); got != want {
			t.Errorf("%d pods: expected %d more, got %d", pods, want, got)
		}
	}
}

func TestTheLargestInstanceIsCountedToo(t *testing.T) {
	m := newInstance(asks("limits.memory=999999999999999P"), withReplicas(1000))
	n := Need(m, nil, nil)
	if q := n["limits.memory"]; q.Sign() <= 0 {
		t.Errorf("expected a sum that did not overflow, got %s", q.String())
	}
}

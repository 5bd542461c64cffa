// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// resourced asks for resources by name, such as memory, of which there is a limit and no request.
func resourced(limits ...string) option {
	return func(c *etcdv1beta2.EtcdCluster) {
		policy(c).Resources = corev1.ResourceRequirements{Limits: quantities(limits)}
	}
}

func quantities(pairs []string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func (w world) resized(serials ...int64) world {
	for _, serial := range serials {
		pod := w.pods[memberName(w.c, serial)]
		pod.Annotations[wishesAnnotation], pod.Annotations[resourcesAnnotation] = wishes(w.c), encoded(w.c.Spec.Pod.Resources)
	}
	return w
}

// underWay has a kubelet tell of what it has not carried out.
func (w world) underWay(serial int64, kind corev1.PodConditionType, reason, message string) world {
	pod := w.pods[memberName(w.c, serial)]
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message})
	return w
}

func (w world) cannotResize(pod types.UID) world {
	w.unresizable = map[types.UID]string{pod: wishes(w.c)}
	return w
}

func TestOtherResourcesAreGivenToMembersThatRun(t *testing.T) {
	small, more := resourced("memory", "1Gi"), resourced("memory", "2Gi")
	plain, claims := newCluster(small), newCluster(small, withClaims)
	n := func(serial int64) string { return memberName(plain, serial) }
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"one after the other":                     {observed(plain, 3).asks(more), "resize " + n(0)},
		"the first has them":                      {observed(plain, 3).asks(more).resized(0), "resize " + n(1)},
		"on claims too":                           {observed(claims, 3).asks(more).resized(0, 1), "resize " + n(2)},
		"all have them":                           {observed(plain, 3).asks(more).resized(0, 1, 2), "nothing"},
		"where none were asked for":               {observed(newCluster(), 3).asks(more), "resize " + n(0)},
		"after all that a cluster needs":          {observed(plain, 3).asks(more, sized(5)), "add member " + n(3)},
		"and after another version":               {observed(claims, 3).asks(more, versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
		"not while one is not well":               {observed(plain, 3).asks(more).unprobed(2), "wait for " + n(2) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a node has no room for now":              {observed(plain, 3).asks(more).underWay(0, corev1.PodResizePending, corev1.PodReasonDeferred, "Node didn't have enough resource: memory"), "wait for the node of " + n(0) + " to give it its resources: Node didn't have enough resource: memory"},
		"a kubelet is at it":                      {observed(plain, 3).asks(more).underWay(0, corev1.PodResizeInProgress, "", ""), "wait for the node of " + n(0) + " to give it its resources: it is at it"},
		"a node can never, claims":                {observed(claims, 3).asks(more).underWay(1, corev1.PodResizePending, corev1.PodReasonInfeasible, ""), "make " + n(1) + " anew"},
		"a node can never, emptyDir":              {observed(plain, 3).asks(more).underWay(0, corev1.PodResizePending, corev1.PodReasonInfeasible, ""), "add member " + n(3)},
		"the API server refuses, claims":          {observed(claims, 3).asks(more).cannotResize("pod"), "make " + n(1) + " anew"},
		"something else is asked for too, claims": {observed(claims, 3).asks(more, withEnv("A", "1")), "make " + n(1) + " anew"},
		"one crashes for lack of memory":          {observed(plain, 3).said(1, "EtcdEnded", "killed").asks(more), "resize " + n(1)},
		"one crashes, claims":                     {observed(claims, 3).said(1, "EtcdEnded", "killed").asks(more), "make " + n(1) + " anew"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected %q, got %q", test.want, got)
			}
		})
	}
}

func TestWhichResourcesCanBeChangedWhileAPodRuns(t *testing.T) {
	limits := func(pairs ...string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: quantities(pairs)}
	}
	requests := func(pairs ...string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: quantities(pairs)}
	}
	for name, test := range map[string]struct {
		from, to corev1.ResourceRequirements
		want     bool
	}{
		"more":                                  {limits("cpu", "1"), limits("cpu", "2"), true},
		"less":                                  {limits("memory", "2Gi"), limits("memory", "1Gi"), true},
		"a limit where none was":                {requests("cpu", "1"), limits("cpu", "2"), true},
		"something where nothing was asked for": {limits(), requests("memory", "1Gi", "cpu", "1"), true},
		"a limit is taken away":                 {limits("cpu", "1", "memory", "1Gi"), limits("cpu", "1"), false},
		"a limit is taken away, and the request stays":   {limits("cpu", "1"), requests("cpu", "1"), false},
		"something that can only be given at the start":  {limits("cpu", "1"), limits("cpu", "1", "ephemeral-storage", "1Gi"), false},
		"something else that stays":                      {limits("cpu", "1", "ephemeral-storage", "1Gi"), limits("cpu", "2", "ephemeral-storage", "1024Mi"), true},
		"what can only be given at the start is another": {limits("hugepages-2Mi", "2Mi"), limits("hugepages-2Mi", "4Mi"), false},
		"a device is claimed":                            {limits("cpu", "1"), corev1.ResourceRequirements{Limits: quantities([]string{"cpu", "1"}), Claims: []corev1.ResourceClaim{{Name: "disk"}}}, false},
	} {
		if got := inPlace(complete(test.from), complete(test.to)); got != test.want {
			t.Errorf("%s: expected %v, got %v", name, test.want, got)
		}
	}
}

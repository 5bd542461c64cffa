// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
)

// noted records the spec's resources on the pods of members. resized also changes the resources in the pods' specs.
func (w world) noted(serials ...int64) world {
	for _, serial := range serials {
		for _, key := range []string{model.SettingsAnnotation, settings.ResizedAnnotation} {
			w.pods[model.MemberName(w.c, serial)].Annotations[key] = settings.Hash(w.c)
		}
		w.pods[model.MemberName(w.c, serial)].Annotations[settings.ResourcesAnnotation] = settings.EncodeJSON(w.c.Spec.Pod.Resources)
	}
	return w
}

func (w world) resized(serials ...int64) world {
	for _, serial := range serials {
		w.pods[model.MemberName(w.c, serial)].Spec.Containers = []corev1.Container{{Name: "sidecar"}, {Name: model.Container, Resources: settings.DesiredResources(w.c)}}
	}
	return w.noted(serials...)
}

// owes makes a kubelet report that it has not completed a resize.
func (w world) owes(serial int64, kind corev1.PodConditionType, reason, message string) world {
	pod := w.pods[model.MemberName(w.c, serial)]
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message})
	return w
}

func TestOtherResourcesAreGivenToMembersThatRun(t *testing.T) {
	small, more := clustertest.Limits("memory", "1Gi"), clustertest.Limits("memory", "2Gi")
	plain, claims := clustertest.New(small), clustertest.New(small, clustertest.WithClaims)
	n := func(serial int64) string { return model.MemberName(plain, serial) }
	waits := func(serial int64, words string) string {
		return "wait for the node of " + n(serial) + " to resize its pod: " + words
	}
	const deferred, infeasible = corev1.PodReasonDeferred, corev1.PodReasonInfeasible
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"it is noted first":                      {observed(plain, 3).asks(more), "note for " + n(0)},
		"then it is asked for":                   {observed(plain, 3).asks(more).noted(0), "resize " + n(0)},
		"the first has them":                     {observed(plain, 3).asks(more).resized(0), "note for " + n(1)},
		"on claims too":                          {observed(claims, 3).asks(more).resized(0, 1), "note for " + n(2)},
		"all have them":                          {observed(plain, 3).asks(more).resized(0, 1, 2), "nothing"},
		"another controller gave them others":    {observed(clustertest.New(), 3), "nothing"},
		"where nothing was asked for":            {observed(clustertest.New(), 3).asks(more), "note for " + n(0)},
		"after all that a cluster needs":         {observed(plain, 3).asks(more, clustertest.Sized(5)), "add member " + n(3)},
		"and after another version":              {observed(claims, 3).asks(more, clustertest.Versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
		"not while one is not well":              {observed(plain, 3).asks(more).unprobed(2), "wait for " + n(2) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"nor of a spec that cannot be":           {observed(plain, 3).asks(more, clustertest.Versioned("latest")), "nothing"},
		"a kubelet is at it":                     {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizeInProgress, "", ""), waits(0, "the kubelet is resizing the pod")},
		"a node has no room for now":             {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizePending, deferred, "no memory"), "note for " + n(1)},
		"the others have them":                   {observed(plain, 3).asks(more).resized(0, 1, 2).owes(0, corev1.PodResizePending, deferred, "no memory"), waits(0, "no memory")},
		"a node can never":                       {observed(claims, 3).asks(more).resized(0, 1, 2).owes(1, corev1.PodResizePending, infeasible, "too much"), waits(1, "too much")},
		"it is withdrawn":                        {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizePending, deferred, "").asks(small), "note for " + n(0)},
		"and that is noted":                      {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizePending, deferred, "").asks(small).noted(0), "resize " + n(0)},
		"it is withdrawn before it is asked for": {observed(plain, 3).asks(more).noted(0).asks(small).noted(0), "nothing"},
		"it is lowered to what fits":             {observed(claims, 3).asks(clustertest.Limits("memory", "64Gi")).resized(0).owes(0, corev1.PodResizePending, infeasible, "").asks(more), "note for " + n(0)},
		"a limit came and goes again":            {observed(claims, 3).asks(clustertest.Limits("memory", "1Gi", "cpu", "1")).noted(1).asks(small), "recreate " + n(1)},
		"something else is asked for too":        {observed(claims, 3).asks(more, clustertest.WithEnv("A", "1")), "recreate " + n(1)},
		"one crashes for lack of memory":         {observed(plain, 3).said(1, "EtcdEnded", "killed").asks(more), "note for " + n(1)},
		"and that is noted, too":                 {observed(plain, 3).said(1, "EtcdEnded", "killed").asks(more).noted(1), "resize " + n(1)},
		"it holds up no replacement":             {observed(plain, 5).said(1, "EtcdEnded", "killed").asks(more).without(2), "remove member " + n(2)},
		"one crashes, claims":                    {observed(claims, 3).said(1, "EtcdEnded", "killed").asks(more), "recreate " + n(1)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected %q, got %q", test.want, got)
			}
		})
	}
}

func TestUntilANodeHasGivenWhatIsAskedForAMemberIsNotUpToDate(t *testing.T) {
	small, more := clustertest.Limits("memory", "1Gi"), clustertest.Limits("memory", "2Gi")
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"not noted":     {observed(clustertest.New(small), 3).asks(more), "False Updating: 3 of 3 members do not match the spec yet"},
		"not asked for": {observed(clustertest.New(small), 3).asks(more).resized(1, 2).noted(0), "False Updating: 1 of 3 members do not match the spec yet"},
		"not given": {observed(clustertest.New(small), 3).asks(more).resized(0, 1, 2).owes(0, corev1.PodResizePending, "Deferred", "no memory"),
			"False Updating: 1 of 3 members do not match the spec yet; the next change waits for the node of " + model.MemberName(clustertest.New(), 0) + " to resize its pod: no memory"},
		"given": {observed(clustertest.New(small), 3).asks(more).resized(0, 1, 2), "True AllUpToDate: All members match the spec"},
	} {
		if got := conditionOf(reported(test.world), etcdv1beta2.EtcdClusterUpToDate); got != test.want {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}

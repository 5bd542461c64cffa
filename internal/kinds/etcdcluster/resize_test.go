// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// noted has it be noted of members what they are to have; resized has them have it, too.
func (w world) noted(serials ...int64) world {
	for _, serial := range serials {
		for _, key := range []string{wishesAnnotation, resizedAnnotation} {
			w.pods[memberName(w.c, serial)].Annotations[key] = wishes(w.c)
		}
		w.pods[memberName(w.c, serial)].Annotations[resourcesAnnotation] = encoded(w.c.Spec.Pod.Resources)
	}
	return w
}

func (w world) resized(serials ...int64) world {
	for _, serial := range serials {
		w.pods[memberName(w.c, serial)].Spec.Containers = []corev1.Container{{Name: "sidecar"}, {Name: container, Resources: desired(w.c)}}
	}
	return w.noted(serials...)
}

// owes has a kubelet tell of what it has not carried out.
func (w world) owes(serial int64, kind corev1.PodConditionType, reason, message string) world {
	pod := w.pods[memberName(w.c, serial)]
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message})
	return w
}

func TestOtherResourcesAreGivenToMembersThatRun(t *testing.T) {
	small, more := resourced("memory", "1Gi"), resourced("memory", "2Gi")
	plain, claims := newCluster(small), newCluster(small, withClaims)
	n := func(serial int64) string { return memberName(plain, serial) }
	waits := func(serial int64, words string) string {
		return "wait for the node of " + n(serial) + " to give it its resources: " + words
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
		"somebody else gave them others":         {observed(newCluster(), 3), "nothing"},
		"where nothing was asked for":            {observed(newCluster(), 3).asks(more), "note for " + n(0)},
		"after all that a cluster needs":         {observed(plain, 3).asks(more, sized(5)), "add member " + n(3)},
		"and after another version":              {observed(claims, 3).asks(more, versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
		"not while one is not well":              {observed(plain, 3).asks(more).unprobed(2), "wait for " + n(2) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"nor of a spec that cannot be":           {observed(plain, 3).asks(more, versioned("latest")), "nothing"},
		"a kubelet is at it":                     {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizeInProgress, "", ""), waits(0, "it is at it")},
		"a node has no room for now":             {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizePending, deferred, "no memory"), "note for " + n(1)},
		"the others have them":                   {observed(plain, 3).asks(more).resized(0, 1, 2).owes(0, corev1.PodResizePending, deferred, "no memory"), waits(0, "no memory")},
		"a node can never":                       {observed(claims, 3).asks(more).resized(0, 1, 2).owes(1, corev1.PodResizePending, infeasible, "too much"), waits(1, "too much")},
		"it is withdrawn":                        {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizePending, deferred, "").asks(small), "note for " + n(0)},
		"and that is noted":                      {observed(plain, 3).asks(more).resized(0).owes(0, corev1.PodResizePending, deferred, "").asks(small).noted(0), "resize " + n(0)},
		"it is withdrawn before it is asked for": {observed(plain, 3).asks(more).noted(0).asks(small).noted(0), "nothing"},
		"it is lowered to what fits":             {observed(claims, 3).asks(resourced("memory", "64Gi")).resized(0).owes(0, corev1.PodResizePending, infeasible, "").asks(more), "note for " + n(0)},
		"a limit came and goes again":            {observed(claims, 3).asks(resourced("memory", "1Gi", "cpu", "1")).noted(1).asks(small), "make " + n(1) + " anew"},
		"something else is asked for too":        {observed(claims, 3).asks(more, withEnv("A", "1")), "make " + n(1) + " anew"},
		"one crashes for lack of memory":         {observed(plain, 3).said(1, "EtcdEnded", "killed").asks(more), "note for " + n(1)},
		"and that is noted, too":                 {observed(plain, 3).said(1, "EtcdEnded", "killed").asks(more).noted(1), "resize " + n(1)},
		"it holds up no replacement":             {observed(plain, 5).said(1, "EtcdEnded", "killed").asks(more).without(2), "remove member " + n(2)},
		"one crashes, claims":                    {observed(claims, 3).said(1, "EtcdEnded", "killed").asks(more), "make " + n(1) + " anew"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected %q, got %q", test.want, got)
			}
		})
	}
}

func TestUntilANodeHasGivenWhatIsAskedForAMemberIsNotUpToDate(t *testing.T) {
	small, more := resourced("memory", "1Gi"), resourced("memory", "2Gi")
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"not noted":     {observed(newCluster(small), 3).asks(more), "False Updating: 3 of 3 members are not yet as the spec says"},
		"not asked for": {observed(newCluster(small), 3).asks(more).resized(1, 2).noted(0), "False Updating: 1 of 3 members are not yet as the spec says"},
		"not given": {observed(newCluster(small), 3).asks(more).resized(0, 1, 2).owes(0, corev1.PodResizePending, "Deferred", "no memory"),
			"False Updating: 1 of 3 members are not yet as the spec says; it waits for the node of " + memberName(newCluster(), 0) + " to give it its resources: no memory"},
		"given": {observed(newCluster(small), 3).asks(more).resized(0, 1, 2), "True AllUpToDate: Every member runs what the spec says"},
	} {
		if got := conditionOf(report(test.world), etcdv1beta2.EtcdClusterUpToDate); got != test.want {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}

func TestOnlyWhatKubernetesCannotResizeIsMadeAnewForIt(t *testing.T) {
	pods, kind := schema.GroupResource{Resource: "pods"}, schema.GroupKind{Kind: "Pod"}
	rules := field.ErrorList{field.Forbidden(field.NewPath("spec", "containers").Index(0).Child("resources", "limits"), "resource limits cannot be removed")}
	policy := apierrors.NewInvalid(kind, "a", nil)
	policy.ErrStatus.Message = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too much"
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"it does not know how":        {apierrors.NewMethodNotSupported(pods, "patch"), true},
		"it has no such subresource":  {apierrors.NewGenericServerResponse(404, "patch", pods, "a", "", 0, true), true},
		"its rules forbid it":         {apierrors.NewInvalid(kind, "a", rules), true},
		"a quota forbids it":          {apierrors.NewForbidden(pods, "a", errors.New("exceeded quota: small")), false},
		"a quota was not counted yet": {apierrors.NewForbidden(pods, "a", errors.New("status unknown for quota: small")), false},
		"a LimitRange forbids it":     {apierrors.NewForbidden(pods, "a", errors.New("maximum memory usage per Container is 1Gi")), false},
		"a policy forbids it":         {policy, false},
		"a webhook fails":             {apierrors.NewInternalError(errors.New("failed calling webhook")), false},
		"no answer":                   {context.DeadlineExceeded, false},
		"it is done":                  {nil, false},
	} {
		if got := cannotResize(test.err); got != test.want {
			t.Errorf("%s: expected %v, got %v", name, test.want, got)
		}
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

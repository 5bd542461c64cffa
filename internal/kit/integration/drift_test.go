// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestDriftOfADeclaredFieldCostsOneWrite(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	web := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"}}
	config := settings(ns, map[string]string{"mode": "fast"})
	const container = "/spec/template/spec/containers/0"
	for name, test := range map[string]struct {
		child    ensure.Child
		resource string
		object   client.Object
		patch    string
	}{
		"a value":                 {config, "configmaps", settingsOf(ns), `{"data":{"mode":"slow"}}`},
		"all values":              {config, "configmaps", settingsOf(ns), `{"data":null}`},
		"the hash":                {config, "configmaps", settingsOf(ns), `{"metadata":{"annotations":{"opcrew.io/applied":null}}}`},
		"the owner's label":       {config, "configmaps", settingsOf(ns), `{"metadata":{"labels":{"opcrew.io/owner":null}}}`},
		"the owner reference":     {config, "configmaps", settingsOf(ns), `{"metadata":{"ownerReferences":null}}`},
		"the control":             {config, "configmaps", settingsOf(ns), `[{"op":"remove","path":"/metadata/ownerReferences/0/controller"}]`},
		"a port":                  {service(ns), "services", web, `[{"op":"replace","path":"/spec/ports/0/targetPort","value":9090}]`},
		"a selector":              {service(ns), "services", web, `{"spec":{"selector":{"version":"2"}}}`},
		"a false":                 {account(ns), "serviceaccounts", sa, `{"automountServiceAccountToken":true}`},
		"an image":                {deployment(ns, "web:1", 2), "deployments", deploymentOf(ns), `[{"op":"replace","path":"` + container + `/image","value":"web:2"}]`},
		"replicas of our own":     {deployment(ns, "web:1", 2), "deployments", deploymentOf(ns), `{"spec":{"replicas":0}}`},
		"a variable":              {deployment(ns, "web:1", 2), "deployments", deploymentOf(ns), `[{"op":"remove","path":"` + container + `/env/0"}]`},
		"a quantity":              {deployment(ns, "web:1", 2), "deployments", deploymentOf(ns), `[{"op":"replace","path":"` + container + `/resources/requests/cpu","value":"1500m"}]`},
		"a toleration":            {deployment(ns, "web:1", 2), "deployments", deploymentOf(ns), `{"spec":{"template":{"spec":{"tolerations":[]}}}}`},
		"a selector of nodes":     {class(ns, "runc"), "runtimeclasses", classOf(ns), `{"scheduling":{"nodeSelector":{"zone":"a"}}}`},
		"a toleration of a class": {class(ns, "runc"), "runtimeclasses", classOf(ns), `{"scheduling":{"tolerations":null}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			ref := p.ensure(owner, test.child).Ref
			p.catchesUp(ref)
			object := test.object.DeepCopyObject().(client.Object)
			before := current(t, object).DeepCopyObject().(client.Object)
			edit(t, "kubectl-edit", object, test.patch)
			p.catchesUp(ref)
			want := ensure.Repaired
			if name == "the hash" { // without the hash, opcrew cannot know what it has applied
				want = ensure.Applied
			}
			p.ensures(owner, test.child, want, repair(test.resource))
			p.ensures(owner, test.child, ensure.Unchanged, free)

			got := current(t, test.object.DeepCopyObject().(client.Object))
			for _, o := range []client.Object{before, got} {
				o.SetManagedFields(nil)
				o.SetResourceVersion("")
				o.SetGeneration(0)
			}
			if diff := cmp.Diff(withoutStatus(t, before), withoutStatus(t, got)); diff != "" {
				t.Errorf("after the repair it is not as before (-before +after):\n%s", diff)
			}
			p.clock.Step(5 * time.Minute) // repairs this far apart do not count as a contest
		})
	}
}

func TestFieldsOfOtherManagersSurviveEveryWrite(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	ref := p.ensures(owner, deployment(ns, "web:1", 2), ensure.Created, creation("deployments")).Ref
	edit(t, "istio", deploymentOf(ns), `{"metadata":{"labels":{"team":"shop"},"annotations":{"note":"mine"},"finalizers":["example.com/hold"]},
		"spec":{"minReadySeconds":5,"template":{"metadata":{"annotations":{"restartedAt":"now"}}}}}`)
	edit(t, "istio", deploymentOf(ns), `[
		{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"sidecar","image":"mesh:1"}},
		{"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"INJECTED","value":"1"}}]`)
	defer edit(t, "istio", deploymentOf(ns), `{"metadata":{"finalizers":null}}`)
	p.catchesUp(ref)
	p.ensures(owner, deployment(ns, "web:1", 2), ensure.Unchanged, free)

	p.ensures(owner, deployment(ns, "web:2", 2), ensure.Applied, repair("deployments"))
	d := current(t, deploymentOf(ns))
	pod := d.Spec.Template
	if d.Labels["team"] != "shop" || d.Annotations["note"] != "mine" || !slices.Contains(d.Finalizers, "example.com/hold") {
		t.Errorf("labels %v, annotations %v, finalizers %v: expected what others put there to stay", d.Labels, d.Annotations, d.Finalizers)
	}
	if len(pod.Spec.Containers) != 2 || pod.Annotations["restartedAt"] != "now" || d.Spec.MinReadySeconds != 5 {
		t.Errorf("the sidecar, the pods' annotation or minReadySeconds is lost: %v", pod)
	}
	if !slices.ContainsFunc(pod.Spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "INJECTED" }) {
		t.Errorf("variables %v, expected the injected one to stay", pod.Spec.Containers[0].Env)
	}
	if pod.Spec.Containers[0].Image != "web:2" {
		t.Errorf("image %s, expected web:2", pod.Spec.Containers[0].Image)
	}
}

func TestAFieldThatIsNoLongerDeclaredIsRemoved(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	ref := p.ensures(owner, settings(ns, map[string]string{"a": "1", "b": "2"}), ensure.Created, creation("configmaps")).Ref
	edit(t, "kubectl-edit", settingsOf(ns), `{"data":{"c":"theirs"}}`)
	p.catchesUp(ref)

	// The new process simulates an upgrade to a version that declares fewer fields.
	p = start(t, ns, setup{})
	p.ensures(owner, settings(ns, map[string]string{"a": "1"}), ensure.Applied, repair("configmaps"))
	want := map[string]string{"a": "1", "c": "theirs"}
	if diff := cmp.Diff(want, current(t, settingsOf(ns)).Data); diff != "" {
		t.Errorf("values (-expected +got):\n%s", diff)
	}
	p.ensures(owner, settings(ns, map[string]string{"a": "1"}), ensure.Unchanged, free)
}

func TestWhileChangesAreHeldBackNothingIsWrittenAndTheyAreReported(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	held := func(child ensure.Child, want ensure.Action) {
		t.Helper()
		if result, err := p.Ensure(t.Context(), owner, child, true); err != nil || result.Action != want {
			t.Errorf("%s (%v), expected %s", result.Action, err, want)
		}
	}
	fast, slow := settings(ns, map[string]string{"mode": "fast"}), settings(ns, map[string]string{"mode": "slow"})
	p.spends(cost{"get configmaps": 1}, func() { held(fast, ensure.Held) })
	p.ensures(owner, fast, ensure.Created, creation("configmaps"))
	p.spends(free, func() {
		held(fast, ensure.Unchanged)
		held(slow, ensure.Held)
	})
	if got := current(t, settingsOf(ns)).Data["mode"]; got != "fast" {
		t.Errorf("mode %q, expected it to be held back", got)
	}
}

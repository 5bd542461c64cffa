// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestAnObjectOfAnotherOwnerIsLeftAloneAndNamed(t *testing.T) {
	for name, test := range map[string]struct {
		labels map[string]string
		owned  bool
		costs  cost
		who    string
		again  time.Duration
	}{
		"of another manager, by label": {map[string]string{"app.kubernetes.io/managed-by": "Helm"}, false, cost{"get configmaps": 1}, "belongs to Helm", 10 * time.Second},
		"without an owner":             {nil, false, cost{"get configmaps": 1}, "has no owner", 10 * time.Second},
		"another object's":             {nil, true, cost{"get configmaps": 1}, "belongs to ConfigMap other", 10 * time.Second},
		"another object's of ours":     {map[string]string{"app.kubernetes.io/managed-by": "opcrew"}, true, free, "belongs to ConfigMap other", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			ns := env.Namespace(t)
			owner, other := newOwner(t, ns, "owner"), newOwner(t, ns, "other")
			object := settingsOf(ns)
			object.Labels = test.labels
			if test.owned {
				object.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(other, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
			}
			create(t, object)
			version := object.ResourceVersion
			p := start(t, ns, setup{})
			child := settings(ns, map[string]string{"mode": "fast"})
			for range 2 {
				result := p.ensures(owner, child, ensure.Taken, test.costs)
				want := "ConfigMap " + ns + "/settings already exists and " + test.who + ";"
				if !strings.HasPrefix(result.Message, want) {
					t.Errorf("message %q, expected it to begin with %q", result.Message, want)
				}
				if result.Again != test.again {
					t.Errorf("looked at again after %s, expected %s: no event reports when the object goes", result.Again, test.again)
				}
			}
			if got := current(t, settingsOf(ns)).ResourceVersion; got != version {
				t.Errorf("the object of another owner was changed: version %s, expected %s", got, version)
			}
			if err := env.Client.Delete(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			p.catchesUp(ensure.Ref{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), ObjectKey: client.ObjectKeyFromObject(object)})
			p.ensures(owner, child, ensure.Created, creation("configmaps"))
		})
	}
}

func TestTheChildOfAnEarlierOwnerOfTheNameIsNotTaken(t *testing.T) {
	ns := env.Namespace(t)
	p := start(t, ns, setup{})
	first := newOwner(t, ns, "owner")
	child := settings(ns, map[string]string{"mode": "fast"})
	p.ensures(first, child, ensure.Created, creation("configmaps"))
	again := first.DeepCopy()
	again.UID = "uid-of-a-later-owner"
	p.ensures(again, child, ensure.Taken, free)
}

func TestAChildThatLostTheLabelOfTheCacheIsRepairedByOneWrite(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	child := settings(ns, map[string]string{"mode": "fast"})
	ref := p.ensures(owner, child, ensure.Created, creation("configmaps")).Ref
	uid := current(t, settingsOf(ns)).UID
	stripped := cost{"get configmaps": 2, "patch configmaps": 1}

	edit(t, "kustomize", settingsOf(ns), `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null,"team":"shop"}}}`)
	p.catchesUp(ref)
	p.ensures(owner, child, ensure.Repaired, stripped)
	p.ensures(owner, child, ensure.Unchanged, free)
	edit(t, "kustomize", settingsOf(ns), `{"metadata":{"labels":null}}`)
	p.catchesUp(ref)
	p.ensures(owner, child, ensure.Repaired, stripped)
	edit(t, "kustomize", settingsOf(ns), `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"kustomize"}}}`)
	p.catchesUp(ref)
	p.ensures(owner, child, ensure.Repaired, stripped)

	edit(t, "kustomize", settingsOf(ns), `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"kustomize"}}}`)
	p.catchesUp(ref)
	result := p.ensures(owner, child, ensure.Contested, cost{"get configmaps": 3})
	if !strings.Contains(result.Message, `"kustomize"`) {
		t.Errorf("message %q, expected it to name kustomize", result.Message)
	}
	if got := current(t, settingsOf(ns)).UID; got != uid {
		t.Error("it was recreated, expected it to be repaired")
	}
}

// opcrew uses forced server-side apply, which cannot require that the object does not exist. If another client creates
// the object between opcrew's read and write, opcrew adopts it and keeps its other fields. It does not adopt an object
// with a controller, because the API server accepts only one controller.
func TestAnObjectCreatedBetweenTheReadAndTheWrite(t *testing.T) {
	for name, controlled := range map[string]bool{"by a controller": true, "by hand": false} {
		t.Run(name, func(t *testing.T) {
			ns := env.Namespace(t)
			owner, other := newOwner(t, ns, "owner"), newOwner(t, ns, "other")
			p := start(t, ns, setup{intercept: interceptor.Funcs{
				Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
					rival := settingsOf(ns)
					rival.Data = map[string]string{"mode": "slow", "theirs": "1"}
					if controlled {
						rival.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(other, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
					}
					create(t, rival)
					return c.Apply(ctx, object, opts...)
				},
			}})
			result, err := p.Ensure(t.Context(), owner, settings(ns, map[string]string{"mode": "fast"}), false)
			got := current(t, settingsOf(ns)).Data
			if controlled {
				if !apierrors.IsInvalid(err) || got["mode"] != "slow" || result.Action != "" {
					t.Errorf("%q (%v), values %v: expected the server to refuse a second controller", result.Action, err, got)
				}
				return
			}
			if err != nil || result.Action != ensure.Created || got["mode"] != "fast" || got["theirs"] != "1" {
				t.Errorf("%s (%v), values %v: expected it to be taken over, with its other values", result.Action, err, got)
			}
		})
	}
}

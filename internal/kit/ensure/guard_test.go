// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/internal/guard"
)

// noImage is a guard that refuses pods whose first container has this image.
type noImage string

func (n noImage) Object(_ context.Context, _ client.Object, pod guard.Pod) (*guard.Objection, error) {
	if pod.Template.Spec.Containers[0].Image == string(n) {
		return &guard.Objection{Reason: "Forbidden", Message: pod.String() + " has image " + string(n)}, nil
	}
	return nil, nil
}

func TestAPodThatAGuardObjectsToIsNotWrittenEvenIfItIsPinned(t *testing.T) {
	for name, test := range map[string]struct {
		there, wanted Child
		// written is the image that Ensure writes; empty if it writes nothing.
		written string
	}{
		"neither is forbidden":           {pinnedWeb("old", "web:1", 2), pinnedWeb("new", "web:2", 2), "web:2"},
		"the new one is forbidden":       {pinnedWeb("old", "web:1", 2), pinnedWeb("new", "bad:1", 2), ""},
		"the pinned one stays":           {pinnedWeb("old", "web:1", 2), pinnedWeb("old", "web:2", 3), "web:1"},
		"the pinned one is forbidden":    {pinnedWeb("old", "bad:1", 2), pinnedWeb("old", "web:2", 3), "web:2"},
		"both are forbidden, one pinned": {pinnedWeb("old", "bad:1", 2), pinnedWeb("old", "bad:1", 3), ""},
		"a later default is forbidden":   {pinnedWeb("old", "web:1", 2), pinnedWeb("old", "bad:1", 3), "web:1"},
	} {
		t.Run(name, func(t *testing.T) {
			all := guards{[]guard.Guard{noImage("bad:1")}, clientgoscheme.Scheme}
			live := asServed(t, mustDeclare(t, shop(), test.there), &appsv1.Deployment{})
			in := mustDeclare(t, shop(), test.wanted)
			in.keep(live)
			in, denied, err := all.allowed(t.Context(), shop(), in, live)
			if err != nil {
				t.Fatal(err)
			}
			if test.written == "" {
				if denied == nil || denied.Action != Denied || denied.Reason != "Forbidden" || denied.Message != "Deployment demo/web has image bad:1" {
					t.Errorf("expected the write to be denied with the guard's words, got %+v", denied)
				}
				return
			}
			if err := in.carry(live); err != nil {
				t.Fatal(err)
			}
			containers, _, _ := unstructured.NestedSlice(in.object.Object, "spec", "template", "spec", "containers")
			if denied != nil || len(containers) != 1 || containers[0].(map[string]any)["image"] != test.written {
				t.Errorf("expected image %s to be written, got %v, and denied: %+v", test.written, containers, denied)
			}
		})
	}
}

func TestGuardsSayBeforehandWhatTheyWouldObjectTo(t *testing.T) {
	applier := &Applier{Client: fake.NewClientBuilder().Build(), Guards: []guard.Guard{noImage("bad:1")}}
	live := asServed(t, mustDeclare(t, shop(), pinnedWeb("old", "web:1", 2)), &appsv1.Deployment{})
	for image, want := range map[string]bool{"bad:1": true, "web:2": false} {
		denied, err := applier.Objection(t.Context(), shop(), pinnedWeb("new", image, 2), live)
		if err != nil || (denied != nil && denied.Reason == "Forbidden") != want {
			t.Errorf("%s: expected an objection: %t, got %+v (%v)", image, want, denied, err)
		}
	}
}

// noCopies is a guard that refuses every claim that starts with the data of another claim.
type noCopies struct{}

func (noCopies) Object(_ context.Context, _ client.Object, pod guard.Pod) (*guard.Objection, error) {
	if pod.Claim != nil && pod.Claim.DataSource != nil {
		return &guard.Objection{Reason: "Forbidden", Message: pod.String() + " copies " + pod.Claim.DataSource.Name}, nil
	}
	return nil, nil
}

func TestAGuardSeesANewClaimAndNoExistingOne(t *testing.T) {
	all := guards{[]guard.Guard{noCopies{}}, clientgoscheme.Scheme}
	child := fromJSON(t, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a","namespace":"demo"},
		"spec":{"dataSource":{"kind":"PersistentVolumeClaim","name":"other"},"resources":{"requests":{"storage":"1Gi"}}}}`)
	in := mustDeclare(t, shop(), child)
	denied, err := all.object(t.Context(), shop(), in, nil)
	if err != nil || denied == nil || denied.Action != Denied || denied.Message != "PersistentVolumeClaim demo/a copies other" {
		t.Errorf("expected a new claim to be denied with the guard's words, got %+v (%v)", denied, err)
	}
	live := asServed(t, in, &corev1.PersistentVolumeClaim{})
	if denied, err := all.object(t.Context(), shop(), in, live); denied != nil || err != nil {
		t.Errorf("expected no objection to a claim that exists, got %+v (%v)", denied, err)
	}
}

func TestNewPodsOfASetUseClaimsByTheirNames(t *testing.T) {
	in := mustDeclare(t, shop(), fromJSON(t, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"demo"},
		"spec":{"replicas":3,"volumeClaimTemplates":[{"metadata":{"name":"data"}}]}}`))
	for name, test := range map[string]struct {
		live client.Object
		want []string
	}{
		"a new set":               {nil, []string{"data-db-0", "data-db-1", "data-db-2"}},
		"a set with one more pod": {&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32(2))}}, []string{"data-db-2"}},
		"a set with fewer pods":   {&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32(4))}}, nil},
	} {
		if got, err := newClaims(in, test.live); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: expected %v, got %v (%v)", name, test.want, got, err)
		}
	}
}

func TestAChildWithoutPodsIsOfNoInterestToGuards(t *testing.T) {
	all := guards{[]guard.Guard{noImage("")}, clientgoscheme.Scheme}
	in := mustDeclare(t, shop(), fromJSON(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"demo"}}`))
	if denied, err := all.object(t.Context(), shop(), in, nil); denied != nil || err != nil {
		t.Errorf("expected no objection, got %+v (%v)", denied, err)
	}
}

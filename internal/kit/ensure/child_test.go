// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	nodev1ac "k8s.io/client-go/applyconfigurations/node/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func settings(data map[string]string) Child {
	return Child{Object: corev1ac.ConfigMap("settings", "demo").WithLabels(map[string]string{"app": "shop"}).WithData(data)}
}

func TestAChildCarriesItsOwnerAndWhoMadeIt(t *testing.T) {
	in := mustDeclare(t, shop(), settings(map[string]string{"mode": "fast"}))
	want := map[string]string{"app": "shop", "app.kubernetes.io/managed-by": "opcrew", "opcrew.io/owner": "uid-of-shop"}
	if diff := cmp.Diff(want, in.object.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	owners := []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: "shop", UID: "uid-of-shop",
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	if diff := cmp.Diff(owners, in.object.GetOwnerReferences()); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	if got := in.String(); got != "ConfigMap demo/settings" {
		t.Errorf("messages would call it %q, expected ConfigMap demo/settings", got)
	}
	if in.hash() == "" {
		t.Error("it has no hash, expected one in the annotation opcrew.io/applied")
	}
}

func TestOnlyAnOwnerThatTheGarbageCollectorFindsIsReferredTo(t *testing.T) {
	cluster := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "uid-of-node"}}
	elsewhere := Child{Object: corev1ac.ConfigMap("settings", "other")}
	class := Child{Object: nodev1ac.RuntimeClass("gold").WithHandler("runc")}
	for name, test := range map[string]struct {
		owner client.Object
		child Child
		owned bool
	}{
		"both in one namespace":                      {shop(), settings(nil), true},
		"a child in another namespace":               {shop(), elsewhere, false},
		"a child of the whole cluster":               {shop(), class, false},
		"an owner of the whole cluster":              {cluster, elsewhere, true},
		"an owner and a child of the whole cluster ": {cluster, class, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := mustDeclare(t, test.owner, test.child)
			if got := len(in.object.GetOwnerReferences()) == 1; got != test.owned {
				t.Errorf("it has an owner reference: %t, expected %t", got, test.owned)
			}
			if in.object.GetLabels()["opcrew.io/owner"] != string(test.owner.GetUID()) {
				t.Error("it does not carry the UID of its owner as a label")
			}
		})
	}
}

func TestTheHashChangesWithTheIntentAndWithNothingElse(t *testing.T) {
	base := mustDeclare(t, shop(), settings(map[string]string{"a": "1", "b": "2", "c": "3"})).hash()
	renamedOwner := shop()
	renamedOwner.UID = "uid-of-the-next-shop"
	scaled := web()
	scaled.Carry = []string{"spec.replicas"}
	for range 20 { // repeated, because the iteration order of maps is random
		if again := mustDeclare(t, shop(), settings(map[string]string{"c": "3", "b": "2", "a": "1"})).hash(); again != base {
			t.Fatalf("hash %s, expected %s as before: it depends on the order of a map", again, base)
		}
	}
	for name, other := range map[string]string{
		"another value":   mustDeclare(t, shop(), settings(map[string]string{"a": "1", "b": "2", "c": "4"})).hash(),
		"one key less":    mustDeclare(t, shop(), settings(map[string]string{"a": "1", "b": "2"})).hash(),
		"an empty value":  mustDeclare(t, shop(), settings(map[string]string{"a": "1", "b": "2", "c": ""})).hash(),
		"another owner":   mustDeclare(t, renamedOwner, settings(map[string]string{"a": "1", "b": "2", "c": "3"})).hash(),
		"another replica": mustDeclare(t, shop(), web()).hash(),
		"carried":         mustDeclare(t, shop(), scaled).hash(),
	} {
		if other == base {
			t.Errorf("%s: the hash is the same, expected another", name)
		}
	}
}

func TestAChildWithoutKindOrNameIsAnErrorOfTheBuilder(t *testing.T) {
	nameless := corev1ac.ConfigMap("", "demo")
	kindless := corev1ac.ConfigMap("settings", "demo")
	kindless.Kind = nil
	for name, object := range map[string]runtime.ApplyConfiguration{"no name": nameless, "no kind": kindless} {
		_, err := declare(clientgoscheme.Scheme, shop(), Child{Object: object})
		if err == nil || !strings.Contains(err.Error(), "a child needs apiVersion, kind and metadata.name") {
			t.Errorf("%s: %v, expected an error that says what a child needs", name, err)
		}
	}
}

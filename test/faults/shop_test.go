// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/faults/naive"
)

// shops returns a Subject for the Shop controller of package naive, with the given bugs.
func shops(bugs ...naive.Bug) faults.Subject {
	return faults.Subject{
		Kind:       naive.Kind(bugs...),
		CRDs:       []string{"test/faults/testdata/shops.yaml"},
		Namespaced: true,
		Primary:    &naive.Shop{},
		Others:     []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}},
		Truth:      shopIsAsDeclared,
		Invariants: []faults.Invariant{{Name: "a shop has one key", Check: oneKey}},
		Mask:       maskSign,
		Workloads:  []faults.Workload{shopping},
		OldLists:   true,
		Patience:   10 * time.Second,
		Silence:    300 * time.Millisecond,
	}
}

// shopping creates a Shop, changes its color, deletes it and creates it again.
var shopping = faults.Workload{
	Name: "shopping",
	World: func(w *faults.World) {
		w.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "street"}, Data: map[string]string{"post": "1"}})
	},
	Steps: []faults.Step{
		{
			Name:  "open a red shop",
			Do:    func(u *faults.User) { u.Create(shop("red", true)) },
			Until: shopReady,
		},
		{
			Name:  "paint it blue",
			Do:    func(u *faults.User) { u.Patch("corner", &naive.Shop{}, `{"spec":{"color":"blue"}}`) },
			Until: shopReady,
		},
		{
			Name:  "delete it",
			Do:    func(u *faults.User) { u.Delete("corner", &naive.Shop{}) },
			Until: nothingLeft,
		},
		{
			Name:  "build another of that name that is not open",
			Do:    func(u *faults.User) { u.Create(shop("green", false)) },
			Until: shopReady,
		},
	},
}

func shop(color string, open bool) *naive.Shop {
	return &naive.Shop{ObjectMeta: metav1.ObjectMeta{Name: "corner"}, Spec: naive.ShopSpec{Color: color, Open: open}}
}

func shopReady(v faults.View) error {
	shop := &naive.Shop{}
	if err := v.Get("corner", shop); err != nil {
		return err
	}
	for _, c := range shop.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" && shop.Status.ObservedGeneration == shop.Generation {
			return shopIsAsDeclared(v, shop)
		}
	}
	return fmt.Errorf("the shop is not Ready: %v", shop.Status)
}

func shopIsAsDeclared(v faults.View, object client.Object) error {
	shop := object.(*naive.Shop)
	sign, street := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	if err := v.Get(shop.Name+"-sign", sign); err != nil {
		return err
	}
	if !metav1.IsControlledBy(sign, shop) || sign.Data["color"] != shop.Spec.Color {
		return fmt.Errorf("the sign is %v with owners %v", sign.Data, sign.OwnerReferences)
	}
	if err := v.Get("street", street); err != nil {
		return err
	}
	if color, there := street.Data[shop.Name]; there != shop.Spec.Open || there && color != shop.Spec.Color {
		return fmt.Errorf("the street lists %v", street.Data)
	}
	if len(keysOf(v, shop)) == 0 {
		return fmt.Errorf("there is no key")
	}
	return nil
}

func nothingLeft(v faults.View) error {
	for _, check := range []error{
		v.Gone("corner", &naive.Shop{}), v.Gone("corner-sign", &corev1.ConfigMap{}),
	} {
		if check != nil {
			return check
		}
	}
	if left := v.Objects("Secret"); len(left) > 0 {
		return fmt.Errorf("%s still exists", left[0].GetName())
	}
	return nil
}

func keysOf(v faults.View, shop client.Object) []string {
	var names []string
	for _, secret := range v.Objects("Secret") {
		if metav1.IsControlledBy(secret, shop) {
			names = append(names, secret.GetName())
		}
	}
	return names
}

func oneKey(_, after faults.View, _ faults.Event) error {
	for _, shop := range after.Objects("Shop") {
		if keys := keysOf(after, shop); len(keys) > 1 {
			return fmt.Errorf("the shop has the keys %v", keys)
		}
	}
	return nil
}

// maskSign removes from the ConfigMap of a Shop (its "sign") what the bugs LeavesItsMark and WritesAlways write there.
func maskSign(object *unstructured.Unstructured) {
	for _, field := range []string{"painter", "time"} {
		unstructured.RemoveNestedField(object.Object, "data", field)
	}
}

func TestNoFaultHarmsACarefulController(t *testing.T) {
	faults.Attack(t, shops())
}

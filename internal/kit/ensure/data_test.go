// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// claim declares a claim that holds data.
func claim(retain bool) Child {
	return Child{Object: corev1ac.PersistentVolumeClaim("data", "demo"), Keep: true, Retain: retain}
}

func TestDataThatIsRetainedHasNoOwnerReference(t *testing.T) {
	for retain, want := range map[bool]int{true: 0, false: 1} {
		if got := len(mustDeclare(t, shop(), claim(retain)).object.GetOwnerReferences()); got != want {
			t.Errorf("retained: %t; expected %d owner references, got %d", retain, want, got)
		}
	}
}

func TestDataIsFoundAgainByALaterOwnerOfTheSameKindAndName(t *testing.T) {
	later, other := shop(), shop()
	later.UID = "uid-of-next-years-shop"
	other.UID, other.Name = "uid-of-another", "another"
	left := asServed(t, mustDeclare(t, shop(), claim(true)), &corev1.PersistentVolumeClaim{})
	for name, test := range map[string]struct {
		owner  *corev1.ConfigMap
		change func(*corev1.PersistentVolumeClaim)
		child  Child
		want   bool
	}{
		"by the same owner":                {shop(), nil, claim(true), true},
		"by a later one":                   {later, nil, claim(true), true},
		"by a later one that retains none": {later, nil, claim(false), true},
		"not by one of another name":       {other, nil, claim(true), false},
		"not where data is not asked for":  {later, nil, Child{Object: claim(true).Object}, false},
		"not if another owner has it now":  {later, func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = ownedBy("u", "front") }, claim(true), false},
		"not where its manager is another": {later, func(c *corev1.PersistentVolumeClaim) {
			c.Labels["app.kubernetes.io/managed-by"] = "Helm"
		}, claim(true), false},
		"not what only has our labels": {later, func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil }, claim(true), false},
	} {
		t.Run(name, func(t *testing.T) {
			object := left.DeepCopy()
			if test.change != nil {
				test.change(object)
			}
			if got := mustDeclare(t, test.owner, test.child).ours(test.owner, object); got != test.want {
				t.Errorf("ours: %t, expected %t", got, test.want)
			}
		})
	}
}

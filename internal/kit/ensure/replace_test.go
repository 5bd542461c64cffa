// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	nodev1ac "k8s.io/client-go/applyconfigurations/node/v1"
	schedulingv1ac "k8s.io/client-go/applyconfigurations/scheduling/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func replaces(t *testing.T, child Child, live client.Object, change func()) bool {
	t.Helper()
	in := mustDeclare(t, shop(), child)
	asServed(t, in, live)
	change()
	drift, err := newComparer(clientgoscheme.Scheme).drift(in, live)
	if err != nil {
		t.Fatal(err)
	}
	return in.mustReplace(drift)
}

func TestAChildIsReplacedOnlyWhenAFieldDiffersThatCannotBeChanged(t *testing.T) {
	class := &nodev1.RuntimeClass{}
	gold := Child{ReplaceOn: []string{"handler"}, Object: nodev1ac.RuntimeClass("gold").WithHandler("runc").
		WithScheduling(nodev1ac.Scheduling().WithNodeSelector(map[string]string{"disk": "ssd"}))}
	silver := gold
	silver.ReplaceOn = nil
	whole := gold
	whole.ReplaceOn = []string{"scheduling"}
	inside := gold
	inside.ReplaceOn = []string{"scheduling.nodeSelector.disk"}
	for name, test := range map[string]struct {
		child  Child
		change func()
		want   bool
	}{
		"nothing differs":                   {gold, func() {}, false},
		"the field differs":                 {gold, func() { class.Handler = "gvisor" }, true},
		"another field differs":             {gold, func() { class.Scheduling = nil }, false},
		"the field differs, but may change": {silver, func() { class.Handler = "gvisor" }, false},
		"something below it differs":        {whole, func() { class.Scheduling.NodeSelector["disk"] = "hdd" }, true},
		"the one value that it is part of":  {inside, func() { class.Scheduling.NodeSelector["disk"] = "hdd" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			*class = nodev1.RuntimeClass{}
			if got := replaces(t, test.child, class, test.change); got != test.want {
				t.Errorf("deleted and recreated: %t, expected %t", got, test.want)
			}
		})
	}
}

func TestAnotherSpellingOfAValueDeletesNothing(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	volume := Child{ReplaceOn: []string{"spec.resources.requests"}, Object: corev1ac.PersistentVolumeClaim("data", "demo").
		WithSpec(corev1ac.PersistentVolumeClaimSpec().WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{"storage": resource.MustParse("1024Mi")})))}
	if replaces(t, volume, claim, func() { claim.Labels = nil }) {
		t.Error("a claim of 1024Mi is deleted because the server writes 1Gi")
	}
	class := &schedulingv1.PriorityClass{}
	million := Child{ReplaceOn: []string{"value"}, Object: schedulingv1ac.PriorityClass("high").WithValue(1000000)}
	if replaces(t, million, class, func() { class.Labels = nil }) {
		t.Error("a priority of 1000000 is deleted because one side reads 1e+06")
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
)

func TestAClaimDiffersInWhatTheSpecAsksForAndItHasNotAndWasNotCreatedFor(t *testing.T) {
	const rwo, rwx = corev1.ReadWriteOnce, corev1.ReadWriteMany
	labelled := clustertest.Claim(func(spec *corev1.PersistentVolumeClaimSpec) {
		spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "ssd"}}
	})
	gold := clustertest.Claim(func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeAttributesClassName = new("gold") })
	for name, test := range map[string]struct {
		created []clustertest.Option
		but     func(*corev1.PersistentVolumeClaim)
		asks    []clustertest.Option
		want    string
	}{
		"nothing was edited":            {},
		"the class was edited":          {created: []clustertest.Option{clustertest.StorageClass("slow")}, asks: []clustertest.Option{clustertest.StorageClass("fast")}, want: "has storageClassName slow instead of fast"},
		"a class is named":              {asks: []clustertest.Option{clustertest.StorageClass("fast")}, want: "has storageClassName none instead of fast"},
		"a default class is named":      {but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("fast") }, asks: []clustertest.Option{clustertest.StorageClass("fast")}},
		"a default class was filled in": {but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("fast") }},
		"no class, and none":            {asks: []clustertest.Option{clustertest.StorageClass("")}},
		"a webhook gave it another":     {created: []clustertest.Option{clustertest.StorageClass("fast")}, but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("faster") }},
		"and the spec was edited since": {created: []clustertest.Option{clustertest.StorageClass("fast")}, but: func(p *corev1.PersistentVolumeClaim) { p.Spec.StorageClassName = new("faster") }, asks: []clustertest.Option{clustertest.StorageClass("slow")}, want: "has storageClassName faster instead of slow"},
		"an earlier opcrew noted nothing": {
			created: []clustertest.Option{clustertest.StorageClass("slow")}, but: func(p *corev1.PersistentVolumeClaim) { p.Annotations = nil }, asks: []clustertest.Option{clustertest.StorageClass("fast")},
			want: "has storageClassName slow instead of fast",
		},
		"and the two are the same":          {created: []clustertest.Option{clustertest.StorageClass("slow")}, but: func(p *corev1.PersistentVolumeClaim) { p.Annotations = nil }},
		"the access modes were edited":      {asks: []clustertest.Option{clustertest.AccessModes(rwx)}, want: "has accessModes [ReadWriteOnce] instead of [ReadWriteMany]"},
		"their order was":                   {created: []clustertest.Option{clustertest.AccessModes(rwo, rwx)}, asks: []clustertest.Option{clustertest.AccessModes(rwx, rwo, rwo)}},
		"the selector was edited":           {asks: []clustertest.Option{labelled}, want: "has another selector"},
		"the attributes class was":          {asks: []clustertest.Option{gold}, want: "has volumeAttributesClassName none instead of gold"},
		"another controller set attributes": {but: func(p *corev1.PersistentVolumeClaim) { p.Spec.VolumeAttributesClassName = new("silver") }},
		"the size was edited":               {created: []clustertest.Option{clustertest.Storage("1Gi")}, asks: []clustertest.Option{clustertest.Storage("2Gi")}}, // the volume grows
		"and it never had a volume":         {created: []clustertest.Option{clustertest.Storage("1Gi")}, but: pending, asks: []clustertest.Option{clustertest.Storage("2Gi")}, want: "waits for a volume of 1Gi instead of 2Gi"},
		"a webhook has it ask for more": {
			created: []clustertest.Option{clustertest.Storage("1Gi")}, but: func(p *corev1.PersistentVolumeClaim) {
				pending(p)
				p.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("4Gi")}
			},
		},
		"it has lost its volume":        {created: []clustertest.Option{clustertest.Storage("1Gi")}, but: lostVolume, asks: []clustertest.Option{clustertest.Storage("2Gi")}},
		"it is bound to a volume by us": {created: []clustertest.Option{clustertest.Storage("1Gi")}, but: binding, asks: []clustertest.Option{clustertest.Storage("2Gi")}},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(append([]clustertest.Option{clustertest.WithClaims}, test.created...)...)
			claim := bound(c)
			claim.Annotations = map[string]string{ClaimAnnotation: settings.EncodeJSON(TermsOf(claim.Spec))}
			if test.but != nil {
				test.but(claim)
			}
			for _, edit := range test.asks {
				edit(c)
			}
			got := Differs(c, claim)
			if want := test.want; got != want && got != "claim "+claim.Name+" "+want {
				t.Errorf("expected the difference to be %q, got %q", want, got)
			}
		})
	}
}

// bound returns a claim that was created for a cluster and has a volume.
func bound(c *etcdv1beta2.EtcdCluster) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.Spec = "example-1", *c.Spec.Pod.PersistentVolumeClaimSpec.DeepCopy()
	claim.Spec.VolumeName, claim.Status.Phase, claim.Status.Capacity = "pv", corev1.ClaimBound, claim.Spec.Resources.Requests
	return claim
}

func pending(claim *corev1.PersistentVolumeClaim) {
	claim.Spec.VolumeName, claim.Status.Phase = "", corev1.ClaimPending
}

func lostVolume(claim *corev1.PersistentVolumeClaim) { claim.Status.Phase = corev1.ClaimLost }

func binding(claim *corev1.PersistentVolumeClaim) { claim.Status.Phase = corev1.ClaimPending }

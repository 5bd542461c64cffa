// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
)

func TestClaimsThatAreOlderThanTheClusterShowHowManyPodsHadData(t *testing.T) {
	c := clustertest.New()
	c.CreationTimestamp = metav1.NewTime(clustertest.Noon)
	claim := func(name string, age time.Duration) corev1.PersistentVolumeClaim {
		out := corev1.PersistentVolumeClaim{}
		out.Name, out.CreationTimestamp = name, metav1.NewTime(clustertest.Noon.Add(-age))
		return out
	}
	going := claim("redis-enterprise-storage-example-8", time.Hour)
	going.DeletionTimestamp = &c.CreationTimestamp
	for name, test := range map[string]struct {
		claims []corev1.PersistentVolumeClaim
		want   int32
	}{
		"none": {},
		"the highest counts": {[]corev1.PersistentVolumeClaim{
			claim("redis-enterprise-storage-example-3", time.Hour), claim("redis-enterprise-storage-example-1", time.Hour),
		}, 4},
		"its own do not count":        {[]corev1.PersistentVolumeClaim{claim("redis-enterprise-storage-example-3", -time.Second)}, 0},
		"nor one that goes":           {[]corev1.PersistentVolumeClaim{going}, 0},
		"nor one of another name":     {[]corev1.PersistentVolumeClaim{claim("backup-example-3", time.Hour), claim("redis-enterprise-storage-example-b", time.Hour)}, 0},
		"more than there can ever be": {[]corev1.PersistentVolumeClaim{claim("redis-enterprise-storage-example-4000", time.Hour)}, 100},
	} {
		if got := inherited(c, test.claims); got != test.want {
			t.Errorf("%s: expected %d pods, got %d", name, test.want, got)
		}
	}
}

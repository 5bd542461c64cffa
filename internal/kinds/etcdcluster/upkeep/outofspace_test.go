// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package upkeep

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/volumes"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// sized returns the claims of three members with volumes of this size.
func sized(size string) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for range 3 {
		claim := &corev1.PersistentVolumeClaim{}
		claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		out = append(out, claim)
	}
	return out
}

func TestAQuotaThatIsAskedForComesWithTheVolumeThatItNeeds(t *testing.T) {
	view := etcd.View{Status: map[uint64]etcd.MemberStatus{}}
	for id := range uint64(3) {
		view.Members = append(view.Members, etcd.Member{ID: id})
		view.Status[id] = etcd.MemberStatus{ID: id, DBInUse: 2 << 30, DBSize: 2 << 30, Quota: 2 << 30}
	}
	const quota = ": set ETCD_QUOTA_BACKEND_BYTES in spec.pod.etcdEnv to 2685403136 or more"
	for name, test := range map[string]struct {
		claims []*corev1.PersistentVolumeClaim
		want   string
	}{
		"a small volume": {sized("2Gi"), quota + " and " + volumes.StorageField + ", which is 2Gi, to 5122Mi or more, or"},
		"a large volume": {sized("10Gi"), quota + ", or"},
		"no volume":      {nil, quota + ", or"},
	} {
		in := &Input{View: view, Claims: test.claims, Spec: &etcdv1beta2.Upkeep{}}
		if got := in.shortage(); !strings.Contains(got, test.want) {
			t.Errorf("%s: expected %q in it, got\n%s", name, test.want, got)
		}
	}
}

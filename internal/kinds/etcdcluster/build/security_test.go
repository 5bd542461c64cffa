// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

func TestAFieldOfTheSecurityContextKeepsTheOtherDefaults(t *testing.T) {
	for name, test := range map[string]struct {
		set  *corev1.PodSecurityContext
		want string
	}{
		"nothing": {nil, `{"runAsUser":1000,"runAsGroup":1000,"runAsNonRoot":true,"fsGroup":1000,"seccompProfile":{"type":"RuntimeDefault"}}`},
		"a user":  {&corev1.PodSecurityContext{RunAsUser: new(int64(7))}, `{"runAsUser":7,"runAsGroup":1000,"runAsNonRoot":true,"fsGroup":1000,"seccompProfile":{"type":"RuntimeDefault"}}`},
		"a profile": {
			&corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: new("etcd.json")}},
			`{"runAsUser":1000,"runAsGroup":1000,"runAsNonRoot":true,"fsGroup":1000,"seccompProfile":{"type":"Localhost","localhostProfile":"etcd.json"}}`,
		},
	} {
		c := &etcdv1beta2.EtcdCluster{}
		c.Spec.Pod = &etcdv1beta2.PodPolicy{SecurityContext: test.set}
		raw, err := json.Marshal(securityContext(c))
		if err != nil || string(raw) != test.want {
			t.Errorf("%s: expected %s, got %s (%v)", name, test.want, raw, err)
		}
	}
}

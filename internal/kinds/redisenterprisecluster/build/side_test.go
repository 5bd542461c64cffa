// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestASideContainerKeepsTheDefaultsThatItDoesNotSet(t *testing.T) {
	for name, test := range map[string]struct {
		set  *corev1.SecurityContext
		want string
	}{
		"nothing":      {nil, `{"capabilities":{"drop":["ALL"]},"allowPrivilegeEscalation":false}`},
		"a user":       {&corev1.SecurityContext{RunAsUser: new(int64(7))}, `{"capabilities":{"drop":["ALL"]},"runAsUser":7,"allowPrivilegeEscalation":false}`},
		"a capability": {&corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_BIND_SERVICE"}}}, `{"capabilities":{"add":["NET_BIND_SERVICE"],"drop":["ALL"]},"allowPrivilegeEscalation":false}`},
		"a drop":       {&corev1.SecurityContext{Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"CHOWN"}}}, `{"capabilities":{"drop":["ALL"]},"allowPrivilegeEscalation":false}`},
	} {
		raw, err := json.Marshal(sideContainer(corev1.Container{Name: "side", SecurityContext: test.set}).SecurityContext)
		if err != nil || string(raw) != test.want {
			t.Errorf("%s: expected %s, got %s (%v)", name, test.want, raw, err)
		}
	}
}

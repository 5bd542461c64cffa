// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	corev1 "k8s.io/api/core/v1"
)

// borrowAttacks returns attacks in which a tenant uses rights or data that opcrew, or an administrator, has put into
// the pods of an object.
func borrowAttacks() []attack {
	return []attack{
		{name: "the token of the default ServiceAccount", source: "second review 1, OWASP K06", needs: noToken, pods: true,
			manifest: app("pod: {serviceAccountName: default}"), harm: aPodHas("a token for the API server", hasToken),
			control: func(w *world) { w.has(unprotected) }},
		{name: "an inline volume of a CSI driver", source: "second review 2, OWASP K08", needs: requester,
			manifest: redisPod("volumes: [{name: v, csi: {driver: vault.example.com}}]"),
			stops:    &report{"RequesterMayNot", []string{"csidrivers.storage.k8s.io", "vault.example.com"}}, harm: aPodMentions("vault.example.com")},
	}
}

// hasToken reports whether Kubernetes mounts the token of the ServiceAccount into a pod.
func hasToken(s corev1.PodSpec) bool {
	return s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"bytes"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// secretAttacks returns attacks that try to make the operator read a Secret that the tenant may not read, and use its
// content for the tenant.
func secretAttacks() []attack {
	ownName := strings.Replace(redisPod(""), "name: cache", "name: payroll", 1)
	return []attack{
		{name: "the credentials of a Redis cluster", source: "OWASP K08, CVE-2022-24348 (Argo CD)", item: 4, needs: requester,
			before: payroll, manifest: redisPod("clusterCredentialSecretName: payroll"), refused: []string{"clusterCredentialSecretName", "payroll"},
			harm: aSecretContains(desired.Hash("s3cret"))},
		{name: "a Redis cluster with the name of a Secret of others", source: "OWASP K08", needs: ownership,
			before: payroll, manifest: ownName, stops: &report{"", []string{"payroll"}},
			harm: aSecretContains(desired.Hash("s3cret")), control: func(w *world) { w.hasSecretOf(desired.Hash("s3cret")) }},
		{name: "the login key of a Diva", source: "OWASP K08", item: 4, needs: requester,
			before: func(w *world) { w.hasKey() }, manifest: system("", "ssh: {secretRef: {name: deploy-key}}"), refused: []string{"ssh.secretRef", "deploy-key"},
			harm: func(w *world) string { return aSecretContains(w.key)(w) }},
	}
}

// hasKey creates a Secret with a login key that the tenant may not read.
func (w *world) hasKey() {
	w.Helper()
	pair, err := keys.New("of another user")
	if err != nil {
		w.Fatal(err)
	}
	w.key = strings.TrimSpace(string(pair.Private))
	secret := &corev1.Secret{Data: map[string][]byte{"ssh-privatekey": pair.Private}}
	secret.Namespace, secret.Name = w.ns, "deploy-key"
	w.create(secret)
}

// hasSecretOf creates a Secret with the given content and with the label of the operator's own Secrets.
func (w *world) hasSecretOf(content string) {
	w.Helper()
	secret := &corev1.Secret{StringData: map[string]string{"accepted": content}}
	secret.Namespace, secret.Name, secret.Labels = w.ns, "copy", map[string]string{"app.kubernetes.io/managed-by": "opcrew"}
	w.create(secret)
}

// aSecretContains returns a function that reports harm if a Secret of the operator contains the given content of a
// Secret that the tenant may not read. Pods of the tenant mount the operator's Secrets.
func aSecretContains(content string) func(w *world) string {
	return func(w *world) string {
		w.Helper()
		list := &corev1.SecretList{}
		ours := client.MatchingLabels{"app.kubernetes.io/managed-by": "opcrew"}
		if err := w.admin.List(w.Context(), list, client.InNamespace(w.ns), ours); err != nil {
			w.Fatal(err)
		}
		for _, secret := range list.Items {
			for key, value := range secret.Data {
				if bytes.Contains(value, []byte(content)) {
					return fmt.Sprintf("%s of Secret %s has what the tenant may not read", key, secret.Name)
				}
			}
		}
		return ""
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
)

// readableSecrets returns the Secrets that a pod can read through its volumes and its environment.
func (s *shop) readableSecrets(pod corev1.Pod) []*corev1.Secret {
	s.Helper()
	var out []*corev1.Secret
	add := func(name string) {
		secret := &corev1.Secret{}
		s.read(name, secret)
		out = append(out, secret)
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			add(v.Secret.SecretName)
		}
	}
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				add(e.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	return out
}

func TestClientsReadNoKeyThatLogsInWhateverItsSource(t *testing.T) {
	mine, err := keys.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	for what, option := range map[string]option{
		"generated":            func(*opsv1.Diva) {},
		"inline":               func(d *opsv1.Diva) { d.Spec.PrivateKey = string(mine.Private) },
		"a Secret of the user": func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{SecretRef: &opsv1.SecretRef{Name: "mine"}} },
	} {
		t.Run(what, func(t *testing.T) {
			s := newShop(t)
			secret := &corev1.Secret{Data: map[string][]byte{"ssh-privatekey": mine.Private}}
			secret.Namespace, secret.Name = s.ns, "mine"
			if err := env.Client.Create(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			s.create(2, option)
			s.awaitReady(2)
			login := bytes.TrimSpace(s.secret().Data["identity"])
			if _, why := keys.Parse(string(login)); why != "" {
				t.Fatalf("expected the manager to have a key: %s", why)
			}
			for _, pod := range s.pods("client") {
				for _, secret := range s.readableSecrets(pod) {
					for key, content := range secret.Data {
						if bytes.Contains(content, login) {
							t.Errorf("%s reads the manager's private key from %s of Secret %s: it could log in to all other clients", pod.Name, key, secret.Name)
						}
					}
				}
			}
		})
	}
}

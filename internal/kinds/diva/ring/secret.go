// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
)

// Secret returns the Secret with the login key pair. clients are the client pods whose host keys the manager pods must
// know.
func (r *Ring) Secret(d *opsv1.Diva, extra, clients []string) *corev1ac.SecretApplyConfiguration {
	data := map[string][]byte{
		PrivateKey: r.Current.Private, PublicKey: []byte(r.Current.Public + "\n"),
		KnownHosts: []byte(r.Known(d, clients)), HostSeed: []byte(r.Seed),
	}
	if first, next := r.identities(); next != nil {
		data[IdentityKey], data[NextIdentityKey] = first.Private, next.Private
	}
	if r.Next != nil {
		data[nextPrivateKey] = r.Next.Private
	}
	if r.Shared != nil { // client pods of earlier versions mount these
		data[AuthorizedKeys] = []byte(r.Authorized(extra))
		data[HostKey], data[HostPublicKey] = r.Shared.Private, []byte(r.Shared.Public+"\n")
	}
	for key, value := range map[string]string{previousPublic: r.Previous, formerHostKey: strings.Join(r.FormerShared, "\n")} {
		if value != "" {
			data[key] = []byte(value)
		}
	}
	annotations := map[string]string{madeAnnotation: r.Made.UTC().Format(time.RFC3339)}
	if r.Request != "" {
		annotations[rotateRequested] = r.Request
	}
	return secret(d, names.SecretName(d), data).WithAnnotations(annotations)
}

// ServerSecret returns the Secret that client pods mount. It contains no private key for logins.
func (r *Ring) ServerSecret(d *opsv1.Diva, extra []string) *corev1ac.SecretApplyConfiguration {
	return secret(d, names.ServerSecretName(d), map[string][]byte{
		PublicKey: []byte(r.Current.Public + "\n"), AuthorizedKeys: []byte(r.Authorized(extra)), HostSeed: []byte(r.Seed),
	})
}

func secret(d *opsv1.Diva, name string, data map[string][]byte) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(name, d.Namespace).WithLabels(names.Labels(d)).WithType(corev1.SecretTypeOpaque).WithData(data)
}

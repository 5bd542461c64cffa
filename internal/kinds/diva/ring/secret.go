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

// Secret returns the apply configuration of the Secret.
func (r *Ring) Secret(d *opsv1.Diva, extra []string) *corev1ac.SecretApplyConfiguration {
	data := map[string][]byte{
		PrivateKey: r.Current.Private, PublicKey: []byte(r.Current.Public + "\n"),
		AuthorizedKeys: []byte(r.Authorized(extra)), KnownHosts: []byte(r.Known(d)),
		HostKey: r.Host.Private, HostPublicKey: []byte(r.Host.Public + "\n"),
	}
	if first, next := r.identities(); next != nil {
		data[IdentityKey], data[NextIdentityKey] = first.Private, next.Private
	}
	if r.Next != nil {
		data[nextPrivateKey] = r.Next.Private
	}
	for key, value := range map[string]string{previousPublic: r.Previous, formerHostKey: strings.Join(r.FormerHosts, "\n")} {
		if value != "" {
			data[key] = []byte(value)
		}
	}
	annotations := map[string]string{madeAnnotation: r.Made.UTC().Format(time.RFC3339)}
	if r.Request != "" {
		annotations[rotateRequested] = r.Request
	}
	return corev1ac.Secret(names.SecretName(d), d.Namespace).WithLabels(names.Labels(d)).WithAnnotations(annotations).
		WithType(corev1.SecretTypeOpaque).WithData(data)
}

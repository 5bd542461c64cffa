// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/tls"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// CertificateKey is the key of the certificate in a Secret, as the Redis Enterprise operator names it.
const CertificateKey = "certificate"

// PrivateKeyKey is the key of the certificate's private key in the same Secret.
const PrivateKeyKey = "key"

// CertificateProblem returns why the status page cannot use the user's certificate. It returns "" if the certificate is
// usable, or if the spec names none. The pods run even without a usable certificate.
func (r Reader) CertificateProblem(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster) (string, error) {
	name := desired.PageSecret(c)
	if name == "" {
		return "", nil
	}
	secret, err := r.secret(ctx, c, name)
	if err != nil {
		return "", err
	}
	if problem := badCertificate(secret); problem != "" {
		return fmt.Sprintf("cmCertificateSecretName: Secret %s %s; the status page keeps its current certificate, or uses a self-signed one", name, problem), nil
	}
	return "", nil
}

// badCertificate returns why the Secret is not a usable certificate; "" if the certificate is usable. A nil secret
// means that the Secret does not exist.
func badCertificate(secret *corev1.Secret) string {
	if secret == nil {
		return "does not exist"
	}
	for _, key := range []string{CertificateKey, PrivateKeyKey} {
		if len(secret.Data[key]) == 0 {
			return "has no " + key
		}
	}
	if _, err := tls.X509KeyPair(secret.Data[CertificateKey], secret.Data[PrivateKeyKey]); err != nil {
		return fmt.Sprintf("has a certificate and a private key that do not match: %v", err)
	}
	return ""
}

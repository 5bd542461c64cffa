// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"crypto/tls"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// The vendor's keys of a Secret with a certificate.
const certificateKey, privateKeyKey = "certificate", "key"

// observeCertificate says why the status page cannot have the user's certificate; "" if it can, or there is to be
// none. Pods run without it.
func (r *reconciler) observeCertificate(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster) (string, error) {
	name := pageSecret(c)
	if name == "" {
		return "", nil
	}
	secret, err := r.secret(ctx, c, name)
	if err != nil {
		return "", err
	}
	if problem := badCertificate(secret); problem != "" {
		return fmt.Sprintf("cmCertificateSecretName: Secret %s %s; the status page goes on with the certificate that it has, or one that nobody has signed", name, problem), nil
	}
	return "", nil
}

// badCertificate is what a Secret lacks, if it is there at all; "" if nothing.
func badCertificate(secret *corev1.Secret) string {
	if secret == nil {
		return "is not there"
	}
	for _, key := range []string{certificateKey, privateKeyKey} {
		if len(secret.Data[key]) == 0 {
			return "has no " + key
		}
	}
	if _, err := tls.X509KeyPair(secret.Data[certificateKey], secret.Data[privateKeyKey]); err != nil {
		return fmt.Sprintf("has no pair of a certificate and its key: %v", err)
	}
	return ""
}

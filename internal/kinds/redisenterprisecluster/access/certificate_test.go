// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func pair(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func TestACertificateThatCannotBeServedIsFound(t *testing.T) {
	certificate, key := pair(t)
	_, other := pair(t)
	for want, secret := range map[string]*corev1.Secret{
		"":                   {Data: map[string][]byte{"certificate": certificate, "key": key}},
		"does not exist":     nil,
		"has no certificate": {Data: map[string][]byte{"tls.crt": certificate, "key": key}},
		"has no key":         {Data: map[string][]byte{"certificate": certificate, "key": nil}},
		"has a certificate and a private key that do not match: tls: failed to find any PEM data in certificate input": {Data: map[string][]byte{"certificate": []byte("x"), "key": key}},
		"has a certificate and a private key that do not match: tls: private key does not match public key":            {Data: map[string][]byte{"certificate": certificate, "key": other}},
	} {
		if got := badCertificate(secret); got != want {
			t.Errorf("expected %q, got %q", want, got)
		}
	}
}

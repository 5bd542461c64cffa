// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build fields

package fields

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// withCertificate is an annotation of a Secret in a row of the test table. It makes the trial store its certificate in
// the Secret. The members of an EtcdCluster and the operator then use this certificate for TLS.
const withCertificate = "fields/certificate"

// certify stores the trial's self-signed certificate and its key in a Secret if the Secret has the annotation
// withCertificate.
func (t *trial) certify(secret *unstructured.Unstructured) error {
	if _, marked := secret.GetAnnotations()[withCertificate]; !marked {
		return nil
	}
	if t.certificate == nil {
		if err := t.sign(); err != nil {
			return err
		}
	}
	data := map[string]any{}
	for _, side := range []string{"server", "etcd-client"} {
		data[side+".crt"], data[side+"-ca.crt"] = string(t.certificate), string(t.certificate)
		data[side+".key"] = string(t.privateKey)
	}
	secret.Object["stringData"] = data
	return nil
}

func (t *trial) sign() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	domain := t.namespace + ".svc"
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0),
		DNSNames: []string{"*." + t.name + "." + domain, t.name + "-client." + domain, "localhost"},
		IsCA:     true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	t.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	t.privateKey = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	return nil
}

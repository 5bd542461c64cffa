// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// served returns the DNS name in the current certificate.
func served(t *testing.T, c *certificates) string {
	t.Helper()
	got, err := c.get(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(got.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := leaf.CheckSignature(leaf.SignatureAlgorithm, leaf.RawTBSCertificate, leaf.Signature); err != nil {
		t.Error(err)
	}
	if leaf.NotBefore.After(noon()) || leaf.NotAfter.Before(noon().AddDate(9, 0, 0)) {
		t.Errorf("it is valid from %s to %s", leaf.NotBefore, leaf.NotAfter)
	}
	return leaf.DNSNames[0]
}

// mount writes a certificate for a DNS name into the mounted Secret.
func mount(t *testing.T, dir, name string, at time.Time) {
	t.Helper()
	made, err := selfSigned([]string{name}, noon())
	must(t, err)
	key, err := x509.MarshalECPrivateKey(made.PrivateKey.(*ecdsa.PrivateKey))
	must(t, err)
	put(t, dir, "tls.key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key}), at)
	put(t, dir, "tls.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}), at)
}

func put(t *testing.T, dir, name string, text []byte, at time.Time) {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.WriteFile(path, text, 0o600))
	must(t, os.Chtimes(path, at, at))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheMountedCertificateIsServedAndFollowed(t *testing.T) {
	dir := t.TempDir()
	c, err := newCertificates(Options{Certificate: dir, Names: []string{"own"}}, clocktesting.NewFakeClock(noon()), slog.New(slog.DiscardHandler))
	must(t, err)
	expect := func(want, when string) {
		t.Helper()
		if got := served(t, c); got != want {
			t.Errorf("%s the certificate is that of %s, expected %s", when, got, want)
		}
	}
	expect("own", "while nothing is mounted")
	mount(t, dir, "first", noon())
	expect("first", "when one is mounted")
	mount(t, dir, "second", noon().Add(time.Second))
	expect("second", "when it was changed")
	put(t, dir, "tls.crt", []byte("broken"), noon().Add(2*time.Second))
	expect("second", "while what is mounted is broken")
	mount(t, dir, "third", noon().Add(3*time.Second))
	expect("third", "when that was mended")
	must(t, os.Remove(filepath.Join(dir, "tls.crt")))
	expect("third", "when it has gone")
}

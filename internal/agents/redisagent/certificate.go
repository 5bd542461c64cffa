// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// ownLife is how long a self-signed certificate is valid. It exceeds the life of any pod.
	ownLife = 10 * 365 * 24 * time.Hour
	// skew is how far the clock of a client may be behind.
	skew = time.Hour
)

// certificates holds the certificate of the status page: the mounted certificate, or otherwise a self-signed one.
type certificates struct {
	dir string // empty if no certificate is mounted
	log *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	seen    time.Time // modification time of the file of the current certificate
}

// newCertificates returns certificates that start with a self-signed certificate.
func newCertificates(o Options, c clock.PassiveClock, log *slog.Logger) (*certificates, error) {
	own, err := selfSigned(o.Names, c.Now())
	if err != nil {
		return nil, fmt.Errorf("create a certificate: %w", err)
	}
	return &certificates{dir: o.Certificate, log: log, current: own}, nil
}

// get returns the current certificate. It checks at each handshake whether the file has changed, because a stat is
// cheap compared with a handshake.
func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		return c.current, nil
	}
	file := filepath.Join(c.dir, "tls.crt")
	info, err := os.Stat(file)
	if err == nil && !info.ModTime().Equal(c.seen) {
		err = c.load(file)
		c.seen = info.ModTime()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Error("The certificate was not loaded, so the previous certificate stays in use", "error", err.Error())
	}
	return c.current, nil
}

func (c *certificates) load(file string) error {
	loaded, err := tls.LoadX509KeyPair(file, filepath.Join(c.dir, "tls.key"))
	if err != nil {
		return err
	}
	c.current = &loaded
	c.log.Info("The certificate was loaded", "from", file)
	return nil
}

func selfSigned(names []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "opcrew redis-agent"},
		DNSNames:     names,
		NotBefore:    now.Add(-skew),
		NotAfter:     now.Add(ownLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{encoded}, PrivateKey: key}, nil
}

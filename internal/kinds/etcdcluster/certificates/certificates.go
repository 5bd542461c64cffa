// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package certificates checks the Secrets that hold the certificates of members and of the operator, before etcd uses
// them. Package build mounts these Secrets into pods.
package certificates

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Bundle is a Secret with a certificate and its key, and with the CA by which the owner of the certificate verifies the
// certificates of others.
type Bundle struct {
	Secret, field       string
	certKey, keyKey, ca string
	// names are the DNS names that the certificate must cover; empty for a client certificate.
	names []string
}

// Bundles returns the certificate Secrets that spec.TLS names.
func Bundles(c *etcdv1beta2.EtcdCluster) []Bundle {
	member := c.MemberHost("member")
	all := []Bundle{
		{c.PeerSecret(), "TLS.static.member.peerSecret", "peer.crt", "peer.key", "peer-ca.crt", []string{member}},
		{c.ServerSecret(), "TLS.static.member.serverSecret", "server.crt", "server.key", "server-ca.crt",
			[]string{member, fmt.Sprintf("%s.%s.svc%s", model.ClientService(c), c.Namespace, c.DomainSuffix()), "localhost"}},
		{c.OperatorSecret(), "TLS.static.operatorSecret", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", nil},
	}
	return slices.DeleteFunc(all, func(b Bundle) bool { return b.Secret == "" })
}

// Check returns the first problem with the certificate Secrets; nil if there is none. held contains the data of each
// Secret by name; nil for a missing Secret. Each Secret must be valid, and each side of a connection must trust the
// certificate of the other side.
func Check(c *etcdv1beta2.EtcdCluster, held map[string]map[string][]byte, now time.Time) *model.Obstacle {
	for _, b := range Bundles(c) {
		if why := b.check(held[b.Secret], now); why != nil {
			return why
		}
	}
	for _, m := range handshakes(c) {
		if why := m.check(held, now); why != nil {
			return why
		}
	}
	return nil
}

// check returns the first problem in a Secret's own content. data is nil if the Secret is missing.
func (b Bundle) check(data map[string][]byte, now time.Time) *model.Obstacle {
	if data == nil {
		return model.NewObstacle(etcdv1beta2.ReasonSecretMissing, fmt.Sprintf("%s: there is no Secret %s", b.field, b.Secret))
	}
	for _, key := range []string{b.certKey, b.keyKey, b.ca} {
		if len(data[key]) == 0 {
			return model.NewObstacle(etcdv1beta2.ReasonSecretMissing, fmt.Sprintf("%s: Secret %s has no key %s", b.field, b.Secret, key))
		}
	}
	if why := b.unfit(data, now); why != "" {
		return model.NewObstacle(etcdv1beta2.ReasonCertificatesUnfit, fmt.Sprintf("%s: Secret %s, %s", b.field, b.Secret, why))
	}
	return nil
}

func (b Bundle) unfit(data map[string][]byte, now time.Time) string {
	pair, err := tls.X509KeyPair(data[b.certKey], data[b.keyKey])
	if err != nil {
		return fmt.Sprintf("%s and %s: %v", b.certKey, b.keyKey, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[b.ca]) {
		return b.ca + " contains no certificate"
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", b.certKey, err)
	case now.After(cert.NotAfter):
		return fmt.Sprintf("%s expired at %s", b.certKey, cert.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(cert.NotBefore):
		return fmt.Sprintf("%s is not valid before %s", b.certKey, cert.NotBefore.UTC().Format(time.RFC3339))
	}
	for _, name := range b.names {
		if err := cert.VerifyHostname(name); err != nil {
			return fmt.Sprintf("%s: %v", b.certKey, err)
		}
	}
	return ""
}

// ClientTLS returns the operator's TLS configuration for connections to members, and a hash that changes with the
// certificates.
func ClientTLS(data map[string][]byte) (*tls.Config, string, error) {
	pair, err := tls.X509KeyPair(data["etcd-client.crt"], data["etcd-client.key"])
	if err != nil {
		return nil, "", err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data["etcd-client-ca.crt"])
	sum := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		sum.Write([]byte(key))
		sum.Write(data[key])
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12}
	return config, hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

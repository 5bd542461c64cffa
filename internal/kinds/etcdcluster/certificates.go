// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

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
)

// bundle is a Secret with a certificate, its key, and who signs those of the other side.
type bundle struct {
	secret, field       string
	certKey, keyKey, ca string
	// names must be valid for the certificate; none for a client's.
	names []string
}

// bundles are the Secrets that the spec names.
func bundles(c *etcdv1beta2.EtcdCluster) []bundle {
	member := c.MemberHost("member")
	all := []bundle{
		{c.PeerSecret(), "TLS.static.member.peerSecret", "peer.crt", "peer.key", "peer-ca.crt", []string{member}},
		{c.ServerSecret(), "TLS.static.member.serverSecret", "server.crt", "server.key", "server-ca.crt",
			[]string{member, fmt.Sprintf("%s.%s.svc%s", clientService(c), c.Namespace, c.DomainSuffix()), "localhost"}},
		{c.OperatorSecret(), "TLS.static.operatorSecret", "etcd-client.crt", "etcd-client.key", "etcd-client-ca.crt", nil},
	}
	return slices.DeleteFunc(all, func(b bundle) bool { return b.secret == "" })
}

// preflight tells the first thing that is wrong with the Secrets, by name; nil where one is not
// there. What each holds must fit by itself, and one side trust the other.
func preflight(c *etcdv1beta2.EtcdCluster, held map[string]map[string][]byte, now time.Time) *obstacle {
	for _, b := range bundles(c) {
		if why := b.check(held[b.secret], now); why != nil {
			return why
		}
	}
	for _, m := range meetings(c) {
		if why := m.check(held, now); why != nil {
			return why
		}
	}
	return nil
}

// check says what is wrong with the content of a Secret; data is nil where there is none.
func (b bundle) check(data map[string][]byte, now time.Time) *obstacle {
	if data == nil {
		return &obstacle{etcdv1beta2.ReasonSecretMissing, fmt.Sprintf("%s: there is no Secret %s", b.field, b.secret)}
	}
	for _, key := range []string{b.certKey, b.keyKey, b.ca} {
		if len(data[key]) == 0 {
			return &obstacle{etcdv1beta2.ReasonSecretMissing, fmt.Sprintf("%s: Secret %s has no key %s", b.field, b.secret, key)}
		}
	}
	if why := b.unfit(data, now); why != "" {
		return &obstacle{etcdv1beta2.ReasonCertificatesUnfit, fmt.Sprintf("%s: Secret %s, %s", b.field, b.secret, why)}
	}
	return nil
}

func (b bundle) unfit(data map[string][]byte, now time.Time) string {
	pair, err := tls.X509KeyPair(data[b.certKey], data[b.keyKey])
	if err != nil {
		return fmt.Sprintf("%s and %s: %v", b.certKey, b.keyKey, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[b.ca]) {
		return b.ca + " holds no certificate"
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", b.certKey, err)
	case now.After(cert.NotAfter):
		return fmt.Sprintf("%s has expired at %s", b.certKey, cert.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(cert.NotBefore):
		return fmt.Sprintf("%s is valid only from %s on", b.certKey, cert.NotBefore.UTC().Format(time.RFC3339))
	}
	for _, name := range b.names {
		if err := cert.VerifyHostname(name); err != nil {
			return fmt.Sprintf("%s: %v", b.certKey, err)
		}
	}
	return ""
}

// clientTLS is how the operator speaks to the members, and a hash that changes with it.
func clientTLS(data map[string][]byte) (*tls.Config, string, error) {
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

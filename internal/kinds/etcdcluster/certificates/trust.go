// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// handshake describes a TLS connection: one side presents a certificate, and the other side verifies it with its CA.
// opcrew checks this in advance, because otherwise only etcd's log would show why the two sides cannot connect.
type handshake struct {
	field               string
	presents, verifies  string // names of the two sides' Secrets
	certKey, ca, effect string
	usage               x509.ExtKeyUsage
}

// handshakes returns the TLS connections between members, and between the operator and members.
func handshakes(c *etcdv1beta2.EtcdCluster) []handshake {
	const peers, servers, operators = "TLS.static.member.peerSecret", "TLS.static.member.serverSecret", "TLS.static.operatorSecret"
	all := []handshake{
		{peers, c.PeerSecret(), c.PeerSecret(), "peer.crt", "peer-ca.crt", "members refuse each other", x509.ExtKeyUsageServerAuth},
		{peers, c.PeerSecret(), c.PeerSecret(), "peer.crt", "peer-ca.crt", "members refuse each other", x509.ExtKeyUsageClientAuth},
		{servers, c.ServerSecret(), c.OperatorSecret(), "server.crt", "etcd-client-ca.crt", "the operator refuses the members", x509.ExtKeyUsageServerAuth},
		{operators, c.OperatorSecret(), c.ServerSecret(), "etcd-client.crt", "server-ca.crt", "members refuse the operator", x509.ExtKeyUsageClientAuth},
	}
	return slices.DeleteFunc(all, func(m handshake) bool { return m.presents == "" || m.verifies == "" })
}

// check returns the problem if one side's CA does not trust the other side's certificate; nil if it does. The content
// of both Secrets must have been checked before.
func (m handshake) check(held map[string]map[string][]byte, now time.Time) *model.Obstacle {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(held[m.verifies][m.ca])
	leaf, between, err := chain(held[m.presents][m.certKey])
	if err == nil {
		_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{m.usage}})
	}
	if err == nil {
		return nil
	}
	return model.NewObstacle(etcdv1beta2.ReasonCertificatesUnfit, fmt.Sprintf("%s: %s of Secret %s is not trusted by %s of Secret %s, so %s: %v",
		m.field, m.certKey, m.presents, m.ca, m.verifies, m.effect, err))
}

// chain parses a PEM file into its first certificate (leaf) and the intermediate certificates after it.
func chain(raw []byte) (leaf *x509.Certificate, between *x509.CertPool, err error) {
	between = x509.NewCertPool()
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			return nil, nil, err
		case leaf == nil:
			leaf = cert
		default:
			between.AddCert(cert)
		}
	}
	return leaf, between, nil
}

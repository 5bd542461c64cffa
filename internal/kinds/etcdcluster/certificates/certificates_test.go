// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"strings"
	"testing"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

// signer is a certificate with its key, which can sign other certificates.
type signer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

type certOption func(*x509.Certificate)

func named(names ...string) certOption {
	return func(c *x509.Certificate) { c.DNSNames = names }
}

func valid(from, to time.Time) certOption {
	return func(c *x509.Certificate) { c.NotBefore, c.NotAfter = from, to }
}

func usedFor(usages ...x509.ExtKeyUsage) certOption {
	return func(c *x509.Certificate) { c.ExtKeyUsage = usages }
}

// sign creates a certificate and its key, signed by a CA; with a nil signer, it creates a CA.
func sign(t *testing.T, by *signer, options ...certOption) *signer {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: clustertest.Noon.Add(-time.Hour), NotAfter: clustertest.Noon.AddDate(0, 3, 0),
		BasicConstraintsValid: true, IsCA: by == nil,
	}
	for _, o := range options {
		o(template)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signing := template, key
	if by != nil {
		parent, signing = by.cert, by.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signing)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
}

// files returns a certificate, its key and a CA under the file names that a certificate Secret has.
func (s *signer) files(t *testing.T, name string, ca *signer) map[string][]byte {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{name + ".crt": s.pem, name + ".key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), name + "-ca.crt": ca.pem}
}

const members, service = "*.example.shop.svc", "example-client.shop.svc"

func TestCertificatesAreCheckedBeforeMembersAreMade(t *testing.T) {
	c := clustertest.New(func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{
			Member: &etcdv1beta2.MemberSecret{PeerSecret: "peers", ServerSecret: "servers"}, OperatorSecret: "operator",
		}}
	})
	ca, other := sign(t, nil), sign(t, nil)
	peer := func(by *signer, options ...certOption) map[string][]byte {
		return sign(t, by, append([]certOption{named(members)}, options...)...).files(t, "peer", ca)
	}
	server := func(by *signer, options ...certOption) map[string][]byte {
		return sign(t, by, append([]certOption{named(members, service, "localhost")}, options...)...).files(t, "server", ca)
	}
	operator := func(by *signer, options ...certOption) map[string][]byte {
		return sign(t, by, options...).files(t, "etcd-client", ca)
	}
	without := func(data map[string][]byte, key string) map[string][]byte {
		data = maps.Clone(data)
		delete(data, key)
		return data
	}
	with := func(data map[string][]byte, key, value string) map[string][]byte {
		data = maps.Clone(data)
		data[key] = []byte(value)
		return data
	}
	between := sign(t, ca, func(c *x509.Certificate) { c.IsCA = true })
	chained := operator(between)
	chained["etcd-client.crt"] = append(chained["etcd-client.crt"], between.pem...)

	for name, test := range map[string]struct {
		peer, server, operator map[string][]byte
		want                   string // expected error; empty if the certificates are valid
	}{
		"they fit":                       {peer(ca), server(ca), operator(ca), ""},
		"one authority leads to another": {peer(ca), server(ca), chained, ""},
		"for servers and for clients": {peer(ca, usedFor(x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)),
			server(ca, usedFor(x509.ExtKeyUsageServerAuth)), operator(ca, usedFor(x509.ExtKeyUsageClientAuth)), ""},
		"no Secret":                        {nil, server(ca), operator(ca), "SecretMissing: TLS.static.member.peerSecret: there is no Secret peers"},
		"no key":                           {peer(ca), without(server(ca), "server.key"), operator(ca), "SecretMissing: TLS.static.member.serverSecret: Secret servers has no key server.key"},
		"no authority":                     {peer(ca), server(ca), without(operator(ca), "etcd-client-ca.crt"), "SecretMissing: TLS.static.operatorSecret: Secret operator has no key etcd-client-ca.crt"},
		"no certificate":                   {with(peer(ca), "peer.crt", "hello"), server(ca), operator(ca), "CertificatesUnfit: TLS.static.member.peerSecret: Secret peers, peer.crt and peer.key: tls: failed to find any PEM data"},
		"another's key":                    {with(peer(ca), "peer.key", string(peer(ca)["peer.key"])), server(ca), operator(ca), "private key does not match public key"},
		"an authority of air":              {with(peer(ca), "peer-ca.crt", "hello"), server(ca), operator(ca), "Secret peers, peer-ca.crt contains no certificate"},
		"it has expired":                   {peer(ca), server(ca, valid(clustertest.Noon.AddDate(-1, 0, 0), clustertest.Noon.Add(-time.Minute))), operator(ca), "Secret servers, server.crt expired at 2026-08-01T11:59:00Z"},
		"it begins tomorrow":               {peer(ca), server(ca, valid(clustertest.Noon.Add(time.Hour), clustertest.Noon.AddDate(1, 0, 0))), operator(ca), "Secret servers, server.crt is not valid before 2026-08-01T13:00:00Z"},
		"names no member":                  {peer(ca, named("elsewhere")), server(ca), operator(ca), "Secret peers, peer.crt: x509: certificate is valid for elsewhere, not member.example.shop.svc"},
		"names no Service":                 {peer(ca), server(ca, named(members, "localhost")), operator(ca), "not example-client.shop.svc"},
		"names no localhost":               {peer(ca), server(ca, named(members, service)), operator(ca), "not localhost"},
		"peers of another authority":       {peer(other), server(ca), operator(ca), "CertificatesUnfit: TLS.static.member.peerSecret: peer.crt of Secret peers is not trusted by peer-ca.crt of Secret peers, so members refuse each other: x509: certificate signed by unknown authority"},
		"peers that may not be clients":    {peer(ca, usedFor(x509.ExtKeyUsageServerAuth)), server(ca), operator(ca), "so members refuse each other: x509: certificate specifies an incompatible key usage"},
		"a server of another authority":    {peer(ca), server(other), operator(ca), "server.crt of Secret servers is not trusted by etcd-client-ca.crt of Secret operator, so the operator refuses the members"},
		"an operator of another authority": {peer(ca), server(ca), operator(other), "TLS.static.operatorSecret: etcd-client.crt of Secret operator is not trusted by server-ca.crt of Secret servers, so members refuse the operator"},
		"an operator that is a server":     {peer(ca), server(ca), operator(ca, usedFor(x509.ExtKeyUsageServerAuth)), "so members refuse the operator: x509: certificate specifies an incompatible key usage"},
		"what leads to it is missing":      {peer(ca), server(ca), operator(between), "so members refuse the operator"},
	} {
		why := Check(c, map[string]map[string][]byte{"peers": test.peer, "servers": test.server, "operator": test.operator}, clustertest.Noon)
		switch {
		case test.want == "" && why != nil:
			t.Errorf("%s: expected nothing to be wrong, got %+v", name, *why)
		case test.want == "":
		case why == nil || !strings.Contains(why.Reason+": "+why.Message, test.want):
			t.Errorf("%s: expected %q, got %+v", name, test.want, why)
		}
	}
}

func TestOnlyPeersNeedCertificatesWhereClientsUseNone(t *testing.T) {
	c := clustertest.New(func(c *etcdv1beta2.EtcdCluster) {
		c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{Member: &etcdv1beta2.MemberSecret{PeerSecret: "peers"}}}
	})
	ca := sign(t, nil)
	held := map[string]map[string][]byte{"peers": sign(t, ca, named(members)).files(t, "peer", ca)}
	if why := Check(c, held, clustertest.Noon); why != nil {
		t.Errorf("expected nothing to be wrong, got %+v", *why)
	}
	if why := Check(clustertest.New(), nil, clustertest.Noon); why != nil {
		t.Errorf("expected a cluster without TLS to need none, got %+v", *why)
	}
}

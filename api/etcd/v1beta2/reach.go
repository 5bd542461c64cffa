// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"fmt"
	"strings"
)

// MemberHost returns the host name of the member with this pod name: <name>.<cluster>.<namespace>.svc plus
// DomainSuffix.
func (c *EtcdCluster) MemberHost(name string) string {
	return fmt.Sprintf("%s.%s.%s.svc%s", name, c.Name, c.Namespace, c.DomainSuffix())
}

// DomainSuffix returns pod.ClusterDomain with a leading dot, the end of the host names of members and Services; empty
// if the spec does not set it.
func (c *EtcdCluster) DomainSuffix() string {
	if c.Spec.Pod == nil || c.Spec.Pod.ClusterDomain == "" {
		return ""
	}
	return "." + strings.TrimPrefix(c.Spec.Pod.ClusterDomain, ".")
}

// PeerURL returns the URL at which other members connect to the member with this pod name.
func (c *EtcdCluster) PeerURL(name string) string {
	return fmt.Sprintf("%s://%s:%d", c.PeerScheme(), c.MemberHost(name), PeerPort)
}

// ClientURL returns the URL at which clients connect to the member with this pod name.
func (c *EtcdCluster) ClientURL(name string) string {
	return fmt.Sprintf("%s://%s:%d", c.ClientScheme(), c.MemberHost(name), ClientPort)
}

// PeerScheme returns https if the members use TLS with each other, otherwise http.
func (c *EtcdCluster) PeerScheme() string { return schemeOf(c.PeerSecret()) }

// ClientScheme returns https if the members use TLS with clients, otherwise http.
func (c *EtcdCluster) ClientScheme() string { return schemeOf(c.ServerSecret()) }

func schemeOf(secret string) string {
	if secret == "" {
		return "http"
	}
	return "https"
}

// PeerSecret returns the name of the Secret with the members' peer certificate; empty without TLS between members.
func (c *EtcdCluster) PeerSecret() string { return c.memberSecret().PeerSecret }

// ServerSecret returns the name of the Secret with the members' server certificate; empty without TLS for clients.
func (c *EtcdCluster) ServerSecret() string { return c.memberSecret().ServerSecret }

// OperatorSecret returns the name of the Secret with the operator's client certificate; empty without TLS for clients.
func (c *EtcdCluster) OperatorSecret() string {
	if c.Spec.TLS == nil || c.Spec.TLS.Static == nil {
		return ""
	}
	return c.Spec.TLS.Static.OperatorSecret
}

func (c *EtcdCluster) memberSecret() MemberSecret {
	if c.Spec.TLS == nil || c.Spec.TLS.Static == nil || c.Spec.TLS.Static.Member == nil {
		return MemberSecret{}
	}
	return *c.Spec.TLS.Static.Member
}

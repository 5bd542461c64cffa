// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"fmt"
	"strings"
)

// MemberHost is the host name of a member: the name of its pod under the headless Service.
func (c *EtcdCluster) MemberHost(name string) string {
	return fmt.Sprintf("%s.%s.%s.svc%s", name, c.Name, c.Namespace, c.DomainSuffix())
}

// DomainSuffix is the end of the names of members and Services, with a leading dot; empty
// if pods search the cluster's domain by themselves.
func (c *EtcdCluster) DomainSuffix() string {
	if c.Spec.Pod == nil || c.Spec.Pod.ClusterDomain == "" {
		return ""
	}
	return "." + strings.TrimPrefix(c.Spec.Pod.ClusterDomain, ".")
}

// PeerURL is the URL of a member for other members.
func (c *EtcdCluster) PeerURL(name string) string {
	return fmt.Sprintf("%s://%s:%d", c.PeerScheme(), c.MemberHost(name), PeerPort)
}

// ClientURL is the URL of a member for clients.
func (c *EtcdCluster) ClientURL(name string) string {
	return fmt.Sprintf("%s://%s:%d", c.ClientScheme(), c.MemberHost(name), ClientPort)
}

// PeerScheme is https if members use certificates with each other, otherwise http.
func (c *EtcdCluster) PeerScheme() string { return schemeOf(c.PeerSecret()) }

// ClientScheme is https if members use certificates with clients, otherwise http.
func (c *EtcdCluster) ClientScheme() string { return schemeOf(c.ServerSecret()) }

func schemeOf(secret string) string {
	if secret == "" {
		return "http"
	}
	return "https"
}

// PeerSecret is the Secret with the members' peer certificate; empty without TLS between members.
func (c *EtcdCluster) PeerSecret() string { return c.memberSecret().PeerSecret }

// ServerSecret is the Secret with the members' server certificate; empty without TLS for clients.
func (c *EtcdCluster) ServerSecret() string { return c.memberSecret().ServerSecret }

// OperatorSecret is the Secret with the operator's client certificate; empty without TLS for clients.
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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"fmt"
	"strings"
)

// MemberHost is how others reach a member: the name that its pod has under the headless Service.
func (c *EtcdCluster) MemberHost(name string) string {
	return fmt.Sprintf("%s.%s.%s.svc%s", name, c.Name, c.Namespace, c.DomainSuffix())
}

// DomainSuffix is what the names of members and Services end in, with a dot before it; empty
// where pods look names up in the cluster's domain by themselves.
func (c *EtcdCluster) DomainSuffix() string {
	if c.Spec.Pod == nil || c.Spec.Pod.ClusterDomain == "" {
		return ""
	}
	return "." + strings.TrimPrefix(c.Spec.Pod.ClusterDomain, ".")
}

// PeerURL is where other members reach a member.
func (c *EtcdCluster) PeerURL(name string) string {
	return fmt.Sprintf("%s://%s:%d", c.PeerScheme(), c.MemberHost(name), PeerPort)
}

// ClientURL is where clients reach a member.
func (c *EtcdCluster) ClientURL(name string) string {
	return fmt.Sprintf("%s://%s:%d", c.ClientScheme(), c.MemberHost(name), ClientPort)
}

// PeerScheme is http, or https where members show each other certificates.
func (c *EtcdCluster) PeerScheme() string { return schemeOf(c.PeerSecret()) }

// ClientScheme is http, or https where members show clients certificates.
func (c *EtcdCluster) ClientScheme() string { return schemeOf(c.ServerSecret()) }

func schemeOf(secret string) string {
	if secret == "" {
		return "http"
	}
	return "https"
}

// PeerSecret is the Secret that members show each other; empty without TLS between them.
func (c *EtcdCluster) PeerSecret() string { return c.memberSecret().PeerSecret }

// ServerSecret is the Secret that members show clients; empty without TLS for them.
func (c *EtcdCluster) ServerSecret() string { return c.memberSecret().ServerSecret }

// OperatorSecret is the Secret that the operator shows members; empty without TLS for clients.
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

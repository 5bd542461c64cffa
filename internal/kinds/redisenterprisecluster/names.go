// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisenterprisecluster is the kind RedisEnterpriseCluster: a cluster of Redis or Valkey in which
// every pod has a primary and the replica of its neighbour's.
//
// Builders of its children and what is informed of it live here; how the servers of a cluster are looked at and
// led lives in internal/stores/redis, and what runs in the pods in internal/agents.
package redisenterprisecluster

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/workload"
)

func uiService(c *redisv1alpha1.RedisEnterpriseCluster) string    { return c.Name + "-ui" }
func systemSecret(c *redisv1alpha1.RedisEnterpriseCluster) string { return c.Name + "-system" }
func configMap(c *redisv1alpha1.RedisEnterpriseCluster) string    { return c.Name + "-config" }

// userSecret is the Secret with the password of the users.
func userSecret(c *redisv1alpha1.RedisEnterpriseCluster) string {
	return cmp.Or(c.Spec.ClusterCredentialSecretName, c.Name)
}

// ownsUserSecret reports whether the spec names the operator's own Secret, whose password is not for users.
func ownsUserSecret(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return userSecret(c) == systemSecret(c)
}

// pageSecret is the Secret with the certificate of the status page; empty where the agent makes one.
func pageSecret(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if c.Spec.Certificates == nil {
		return ""
	}
	return c.Spec.Certificates.CMCertificateSecretName
}

func username(c *redisv1alpha1.RedisEnterpriseCluster) string {
	return cmp.Or(c.Spec.Username, redisv1alpha1.DefaultUsername)
}

// nodes is how many pods the spec asks for while the cluster is awake.
func nodes(c *redisv1alpha1.RedisEnterpriseCluster) int32 {
	if c.Spec.Nodes != nil {
		return *c.Spec.Nodes
	}
	return redisv1alpha1.DefaultNodes
}

// persistent reports whether pods have volumes.
func persistent(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return c.Spec.PersistentSpec != nil && c.Spec.PersistentSpec.Enabled.Or(true)
}

// serviceAccount is that of the pods, and whether it is to be made.
func serviceAccount(c *redisv1alpha1.RedisEnterpriseCluster) (name string, made bool) {
	if c.Spec.CreateServiceAccount {
		return cmp.Or(c.Spec.ServiceAccountName, c.Name), true
	}
	return c.Spec.ServiceAccountName, false
}

// selector selects the pods. It can never change, so it holds only what never will; that they are ours
// keeps it from pods of the vendor's operator.
func selector(c *redisv1alpha1.RedisEnterpriseCluster) map[string]string {
	return map[string]string{
		redisv1alpha1.AppLabel:     redisv1alpha1.AppName,
		redisv1alpha1.RoleLabel:    redisv1alpha1.RoleNode,
		redisv1alpha1.ClusterLabel: c.Name,
		common.ManagedByLabel:      common.Name,
	}
}

// labels stand on all that belongs to a cluster; the user's stand back behind ours.
func labels(c *redisv1alpha1.RedisEnterpriseCluster) map[string]string {
	out := maps.Clone(c.Spec.ExtraLabels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, selector(c))
	maps.Copy(out, map[string]string{
		"app.kubernetes.io/name":      redisv1alpha1.AppName,
		"app.kubernetes.io/instance":  c.Name,
		"app.kubernetes.io/component": "database",
		"app.kubernetes.io/part-of":   common.Name,
	})
	return out
}

// identity is what is read of the pods by.
func identity(c *redisv1alpha1.RedisEnterpriseCluster) workload.Identity {
	return workload.Identity{Namespace: c.Namespace, Name: c.Name, Labels: labels(c), Selector: selector(c)}
}

// domain is that of the pods' names.
func domain(c *redisv1alpha1.RedisEnterpriseCluster) string {
	return fmt.Sprintf("%s.%s.svc", c.Name, c.Namespace)
}

// endpoints are where clients find a cluster of so many pods.
func endpoints(c *redisv1alpha1.RedisEnterpriseCluster, pods int32) *redisv1alpha1.Endpoints {
	out := &redisv1alpha1.Endpoints{
		Cluster: fmt.Sprintf("%s:%d", domain(c), redisv1alpha1.HomePort),
		UI:      fmt.Sprintf("https://%s.%s.svc:%d", uiService(c), c.Namespace, redisv1alpha1.UIPort),
	}
	for _, pod := range identity(c).Names(pods) {
		out.Nodes = append(out.Nodes, fmt.Sprintf("%s.%s:%d", pod, domain(c), redisv1alpha1.HomePort))
	}
	return out
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package desired derives the desired state of a Redis cluster from its spec: names, labels, settings, resources,
// images and shards. It fills in defaults, parses values and refuses invalid ones. It does not read the current state.
package desired

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/workload"
)

// UIService returns the name of the Service of the status page.
func UIService(c *redisv1alpha1.RedisEnterpriseCluster) string { return c.Name + "-ui" }

// SystemSecret returns the name of the Secret with the password that the operator and the agents use.
func SystemSecret(c *redisv1alpha1.RedisEnterpriseCluster) string { return c.Name + "-system" }

// ConfigMap returns the name of the ConfigMap with the settings that servers read when they start.
func ConfigMap(c *redisv1alpha1.RedisEnterpriseCluster) string { return c.Name + "-config" }

// UserSecret returns the name of the Secret with the user name and password that clients log in with.
func UserSecret(c *redisv1alpha1.RedisEnterpriseCluster) string {
	return cmp.Or(c.Spec.ClusterCredentialSecretName, c.Name)
}

// UsesSystemSecret reports whether the spec names the operator's own Secret as the users' Secret. That is an error,
// because its password is not for users.
func UsesSystemSecret(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return UserSecret(c) == SystemSecret(c)
}

// PageSecret returns the name of the Secret with the certificate of the status page; "" if the agent creates a
// self-signed certificate.
func PageSecret(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if c.Spec.Certificates == nil {
		return ""
	}
	return c.Spec.Certificates.CMCertificateSecretName
}

// Username returns the name that users log in with, if their Secret does not contain another name.
func Username(c *redisv1alpha1.RedisEnterpriseCluster) string {
	return cmp.Or(c.Spec.Username, redisv1alpha1.DefaultUsername)
}

// Nodes returns how many pods the spec requests. It ignores hibernation.
func Nodes(c *redisv1alpha1.RedisEnterpriseCluster) int32 {
	if c.Spec.Nodes != nil {
		return *c.Spec.Nodes
	}
	return redisv1alpha1.DefaultNodes
}

// Persistent reports whether the pods have volumes for their data.
func Persistent(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return c.Spec.PersistentSpec != nil && c.Spec.PersistentSpec.Enabled.Or(true)
}

// Hibernates reports whether the spec requests that all pods stop. A cluster without volumes cannot hibernate.
func Hibernates(c *redisv1alpha1.RedisEnterpriseCluster) bool {
	return c.Spec.Hibernate && Persistent(c)
}

// ServiceAccount returns the name of the pods' service account, and whether the operator creates it.
func ServiceAccount(c *redisv1alpha1.RedisEnterpriseCluster) (name string, made bool) {
	if c.Spec.CreateServiceAccount {
		return cmp.Or(c.Spec.ServiceAccountName, c.Name), true
	}
	return c.Spec.ServiceAccountName, false
}

// Selector returns the labels that select the pods. The selector of a StatefulSet is immutable, so it has only labels
// that never change. opcrew's own label excludes pods of the vendor's operator.
func Selector(c *redisv1alpha1.RedisEnterpriseCluster) map[string]string {
	return map[string]string{
		redisv1alpha1.AppLabel:     redisv1alpha1.AppName,
		redisv1alpha1.RoleLabel:    redisv1alpha1.RoleNode,
		redisv1alpha1.ClusterLabel: c.Name,
		common.ManagedByLabel:      common.Name,
	}
}

// Labels returns the labels of every child. opcrew's labels override the user's labels.
func Labels(c *redisv1alpha1.RedisEnterpriseCluster) map[string]string {
	out := maps.Clone(c.Spec.ExtraLabels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, Selector(c))
	maps.Copy(out, map[string]string{
		"app.kubernetes.io/name":      redisv1alpha1.AppName,
		"app.kubernetes.io/instance":  c.Name,
		"app.kubernetes.io/component": "database",
		"app.kubernetes.io/part-of":   common.Name,
	})
	return out
}

// Identity returns the name and labels by which opcrew finds the pods of a cluster.
func Identity(c *redisv1alpha1.RedisEnterpriseCluster) workload.Identity {
	return workload.Identity{Namespace: c.Namespace, Name: c.Name, Labels: Labels(c), Selector: Selector(c)}
}

// Ordinal returns the number at the end of a pod's name; -1 if the name does not belong to a pod of the cluster.
func Ordinal(c *redisv1alpha1.RedisEnterpriseCluster, name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, c.Name+"-"))
	if err != nil {
		return -1
	}
	return n
}

// Domain returns the DNS domain of the pods. A pod's host name is its name followed by this domain.
func Domain(c *redisv1alpha1.RedisEnterpriseCluster) string {
	return fmt.Sprintf("%s.%s.svc", c.Name, c.Namespace)
}

// Endpoints returns the addresses for clients that the status lists. pods is the number of pods of the cluster.
func Endpoints(c *redisv1alpha1.RedisEnterpriseCluster, pods int32) *redisv1alpha1.Endpoints {
	out := &redisv1alpha1.Endpoints{
		Cluster: fmt.Sprintf("%s:%d", Domain(c), redisv1alpha1.HomePort),
		UI:      fmt.Sprintf("https://%s.%s.svc:%d", UIService(c), c.Namespace, redisv1alpha1.UIPort),
	}
	for _, pod := range Identity(c).Names(pods) {
		out.Nodes = append(out.Nodes, fmt.Sprintf("%s.%s:%d", pod, Domain(c), redisv1alpha1.HomePort))
	}
	return out
}

// Port returns the client port of one of a pod's two servers: the home server (usually a primary) or the guest server
// (usually a replica).
func Port(place redisv1alpha1.Place) int32 {
	if place == redisv1alpha1.Guest {
		return redisv1alpha1.GuestPort
	}
	return redisv1alpha1.HomePort
}

// GracePeriod returns how many seconds a stopping pod has to hand its primary over to a replica and to exit.
func GracePeriod(c *redisv1alpha1.RedisEnterpriseCluster) int64 {
	if wanted := c.Spec.RedisEnterpriseTerminationGracePeriodSeconds; wanted != nil {
		return *wanted
	}
	return redisv1alpha1.DefaultGracePeriodSeconds
}

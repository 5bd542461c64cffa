// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names holds the names and labels of an instance's children, and the defaults of fields that its spec leaves
// out. It decides nothing.
package names

import (
	"cmp"
	"maps"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// AppName is the value of NameLabel on all children.
	AppName = "microservicedeploy"
	// NameLabel is the recommended label for the name of an application.
	NameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"

	// ObjectLabel holds the name of the object that a child belongs to, as the child can have another name.
	ObjectLabel = "opcrew.io/object"

	// MainContainer is the name of the application's own container.
	MainContainer = "app"
	// QuotaLabel on a namespace makes opcrew create a quota although other owners run pods there.
	QuotaLabel = "opcrew.io/quota"
	// TenantAuth is the Secret with the credentials of all instances of a namespace.
	TenantAuth = "opcrew-basic-auth"
	// HtpasswdKey is the key in a Secret whose value has one user:hash a line.
	HtpasswdKey = "htpasswd"
)

// HtpasswdKeys are the keys under which users keep htpasswd lines: ours, and those of Envoy Gateway and ingress-nginx.
var HtpasswdKeys = []string{HtpasswdKey, ".htpasswd", "auth"}

// Child returns the name of an instance's children.
func Child(m *customv1.MicroServiceDeploy) string { return cmp.Or(m.Spec.FullName, m.Name) }

// Identity returns the names and labels of the children.
func Identity(m *customv1.MicroServiceDeploy) workload.Identity {
	id := workload.Identity{
		Namespace: m.Namespace, Name: Child(m),
		Selector: map[string]string{NameLabel: AppName, instanceLabel: Child(m), common.ManagedByLabel: common.Name},
	}
	id.Labels = maps.Clone(id.Selector)
	maps.Copy(id.Labels, map[string]string{
		ObjectLabel:                   m.Name,
		"app.kubernetes.io/component": m.Spec.MsName,
		"app.kubernetes.io/part-of":   "opcrew",
	})
	return id
}

// Replicas returns the desired number of pods.
func Replicas(m *customv1.MicroServiceDeploy) int32 {
	if m.Spec.Replicas != nil {
		return *m.Spec.Replicas
	}
	return customv1.DefaultReplicas
}

// MaxReplicas returns the highest number of pods for autoscaling.
func MaxReplicas(m *customv1.MicroServiceDeploy) int32 {
	if m.Spec.MaxReplicas != nil {
		return *m.Spec.MaxReplicas
	}
	return max(2*Replicas(m), 3)
}

// Ports returns the ports of the spec, or the default.
func Ports(m *customv1.MicroServiceDeploy) []common.Port {
	if len(m.Spec.Ports) > 0 {
		return m.Spec.Ports
	}
	return []common.Port{{Name: "http", Port: customv1.DefaultPort, TargetPort: "8080"}}
}

// QuotaMode returns how the tenant's quota counts an instance.
func QuotaMode(m *customv1.MicroServiceDeploy) customv1.QuotaMode {
	if m.Spec.Quota == "" {
		return customv1.QuotaNamespace
	}
	return m.Spec.Quota
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names holds the names and labels of a MicroServiceDeploy's objects, and the default values of fields of the
// spec. It makes no decisions.
package names

import (
	"cmp"
	"maps"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// AppName is the value of NameLabel on all objects of a MicroServiceDeploy.
	AppName = "microservicedeploy"
	// NameLabel is the label that Kubernetes recommends for the name of an application.
	NameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"

	// ObjectLabel holds the name of the MicroServiceDeploy, because its objects can have another name (spec.fullName).
	ObjectLabel = "opcrew.io/object"

	// MainContainer is the name of the application's own container.
	MainContainer = "app"
	// QuotaLabel is a label of namespaces. In a namespace with this label, opcrew creates a ResourceQuota even if other
	// owners run pods there.
	QuotaLabel = "opcrew.io/quota"
	// TenantAuth is the name of the Secret with the credentials that all MicroServiceDeploys of a namespace share.
	TenantAuth = "opcrew-basic-auth"
	// HtpasswdKey is the key in a Secret that holds htpasswd lines (user:hash), one per line.
	HtpasswdKey = "htpasswd"
)

// HtpasswdKeys are the keys under which users may store htpasswd lines: the key of opcrew, and the keys that Envoy
// Gateway and ingress-nginx use.
var HtpasswdKeys = []string{HtpasswdKey, ".htpasswd", "auth"}

// Child returns the common name of a MicroServiceDeploy's objects.
func Child(m *customv1.MicroServiceDeploy) string { return cmp.Or(m.Spec.FullName, m.Name) }

// Identity returns the names and labels of the objects of a MicroServiceDeploy.
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

// Replicas returns the desired number of pods. With autoscaling, this is the minimum.
func Replicas(m *customv1.MicroServiceDeploy) int32 {
	if m.Spec.Replicas != nil {
		return *m.Spec.Replicas
	}
	return customv1.DefaultReplicas
}

// MaxReplicas returns the maximum number of pods for autoscaling.
func MaxReplicas(m *customv1.MicroServiceDeploy) int32 {
	if m.Spec.MaxReplicas != nil {
		return *m.Spec.MaxReplicas
	}
	return max(2*Replicas(m), 3)
}

// Ports returns the ports in the spec, or the default port.
func Ports(m *customv1.MicroServiceDeploy) []common.Port {
	if len(m.Spec.Ports) > 0 {
		return m.Spec.Ports
	}
	return []common.Port{{Name: "http", Port: customv1.DefaultPort, TargetPort: "8080"}}
}

// QuotaMode returns how the ResourceQuotas of the namespace count a MicroServiceDeploy.
func QuotaMode(m *customv1.MicroServiceDeploy) customv1.QuotaMode {
	if m.Spec.Quota == "" {
		return customv1.QuotaNamespace
	}
	return m.Spec.Quota
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"cmp"
	"maps"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	appName       = "microservicedeploy"
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"

	// objectLabel names the object that a child belongs to, which can have another name.
	objectLabel = "opcrew.io/object"

	// mainContainer is the application's own.
	mainContainer = "app"
	// tenantAuth is the Secret with the credentials of all instances of a namespace.
	tenantAuth = "opcrew-basic-auth"
	// htpasswdKey is the key of lines of user:hash.
	htpasswdKey = "htpasswd"
)

// htpasswdKeys are the names under which users keep such lines: ours, and those of Envoy
// Gateway and ingress-nginx.
var htpasswdKeys = []string{htpasswdKey, ".htpasswd", "auth"}

// childName is that of all that belongs to an instance.
func childName(m *customv1.MicroServiceDeploy) string { return cmp.Or(m.Spec.FullName, m.Name) }

func identity(m *customv1.MicroServiceDeploy) workload.Identity {
	id := workload.Identity{
		Namespace: m.Namespace, Name: childName(m),
		Selector: map[string]string{nameLabel: appName, instanceLabel: childName(m), common.ManagedByLabel: common.Name},
	}
	id.Labels = maps.Clone(id.Selector)
	maps.Copy(id.Labels, map[string]string{
		objectLabel:                   m.Name,
		"app.kubernetes.io/component": m.Spec.MsName,
		"app.kubernetes.io/part-of":   "opcrew",
	})
	return id
}

func replicas(m *customv1.MicroServiceDeploy) int32 {
	if m.Spec.Replicas != nil {
		return *m.Spec.Replicas
	}
	return customv1.DefaultReplicas
}

// maxReplicas is the highest number of pods that autoscaling may come to.
func maxReplicas(m *customv1.MicroServiceDeploy) int32 {
	if m.Spec.MaxReplicas != nil {
		return *m.Spec.MaxReplicas
	}
	return max(2*replicas(m), 3)
}

// ports are those of the spec, or the default.
func ports(m *customv1.MicroServiceDeploy) []common.Port {
	if len(m.Spec.Ports) > 0 {
		return m.Spec.Ports
	}
	return []common.Port{{Name: "http", Port: customv1.DefaultPort, TargetPort: "8080"}}
}

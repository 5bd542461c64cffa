// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"maps"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	appName       = "appservice"
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"
)

// identity returns the names and labels of the children. They have the name of the AppService, as in the tutorial that
// defines this kind.
func identity(a *appv1.AppService) workload.Identity {
	id := workload.Identity{
		Namespace: a.Namespace, Name: a.Name,
		Selector: map[string]string{nameLabel: appName, instanceLabel: a.Name, common.ManagedByLabel: common.Name},
	}
	id.Labels = maps.Clone(id.Selector)
	maps.Copy(id.Labels, map[string]string{
		"app":                         a.Name, // users of the AppService tutorial select pods by this label
		"app.kubernetes.io/component": "application",
		"app.kubernetes.io/part-of":   "opcrew",
	})
	return id
}

func template(a *appv1.AppService) *corev1ac.PodTemplateSpecApplyConfiguration {
	container := workload.Container(a.Name, a.Spec.Image, a.Spec.Ports)
	workload.WithEnvs(container, a.Spec.Envs)
	workload.WithResources(container, a.Spec.Resources)
	template := identity(a).Template(container)
	workload.Restrict(template, a.Spec.SecurityProfile)
	podtemplate.Override(template, a.Spec.Pod)
	if a.Spec.Pod != nil && podtemplate.NamesAccount(a.Spec.Pod.ServiceAccountName) {
		// If the user names a service account other than default, that account decides whether its token is mounted.
		template.Spec.AutomountServiceAccountToken = nil
	}
	return template
}

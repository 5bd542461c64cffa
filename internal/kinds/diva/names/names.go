// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names contains the names and labels of a Diva's children, and the defaults of spec fields.
package names

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// AppName is the value of NameLabel on all objects of a Diva.
	AppName = "diva"
	// NameLabel is the label that Kubernetes recommends for the name of an application.
	NameLabel = "app.kubernetes.io/name"
	// InstanceLabel is the label that Kubernetes recommends for the instance of an application. Its value is the name
	// of the Diva.
	InstanceLabel = "app.kubernetes.io/instance"

	// ClaimTemplate is the name of the client pods' claim template. A claim has this name, followed by the name of its
	// pod.
	ClaimTemplate = "wi"
)

// SecretName returns the name of the Secret with the login key pair. Only manager pods mount it.
func SecretName(d *opsv1.Diva) string { return d.Name + "-ssh" }

// ServerSecretName returns the name of the Secret that the client pods' sshd needs.
func ServerSecretName(d *opsv1.Diva) string { return d.Name + "-sshd" }

// InventoryName returns the name of the ConfigMap with the inventory of client pods.
func InventoryName(d *opsv1.Diva) string { return d.Name + "-inventory" }

// ExtraClaim returns the name of the claim that the manager pods share.
func ExtraClaim(d *opsv1.Diva) string { return d.Name + "-extra" }

// Clients returns the name, labels and selector of the client pods. The selector is that of the tutorial article that
// this API comes from.
func Clients(d *opsv1.Diva) workload.Identity { return identity(d, "client") }

// Managers returns the name, labels and selector of the manager pods. One of their claims has the same name as their
// Deployment.
func Managers(d *opsv1.Diva) workload.Identity { return identity(d, "manager") }

// identity returns the names and labels of a role: the labels of the tutorial article that this API comes from, and the
// labels that Kubernetes recommends.
func identity(d *opsv1.Diva, role string) workload.Identity {
	id := workload.Identity{
		Namespace: d.Namespace, Name: d.Name + "-" + role,
		Selector: map[string]string{"diva-" + role: d.Name},
		Labels:   map[string]string{"app": "diva-" + role, "diva-" + role: d.Name},
	}
	maps.Copy(id.Labels, Labels(d))
	id.Labels["app.kubernetes.io/component"] = role
	return id
}

// Labels returns the labels of all objects that belong to a Diva.
func Labels(d *opsv1.Diva) map[string]string {
	return map[string]string{
		NameLabel: AppName, InstanceLabel: d.Name, "app.kubernetes.io/part-of": "opcrew", common.ManagedByLabel: common.Name,
	}
}

// Selector returns the labels by which opcrew selects all objects of a Diva.
func Selector(d *opsv1.Diva) map[string]string {
	return map[string]string{NameLabel: AppName, InstanceLabel: d.Name, common.ManagedByLabel: common.Name}
}

// ClientClaim returns the name of the claim of the client pod with this ordinal.
func ClientClaim(d *opsv1.Diva, ordinal int32) string {
	return fmt.Sprintf("%s-%s-%d", ClaimTemplate, Clients(d).Name, ordinal)
}

// ManagerReplicas returns the desired number of manager pods; 1 by default.
func ManagerReplicas(d *opsv1.Diva) int32 {
	if d.Spec.Manager.Replicas != nil {
		return *d.Spec.Manager.Replicas
	}
	return 1
}

// Ports returns the ports of the Service for the manager pods, or the default ports.
func Ports(d *opsv1.Diva) []common.Port {
	if len(d.Spec.Manager.Ports) > 0 {
		return d.Spec.Manager.Ports
	}
	return []common.Port{{Name: "http", Port: opsv1.DefaultPort, TargetPort: common.TargetPort(fmt.Sprint(opsv1.DefaultTargetPort))}}
}

// SSHPort returns the port of the SSH server in client pods.
func SSHPort(d *opsv1.Diva) int32 {
	if d.Spec.SSH != nil && d.Spec.SSH.Port != nil {
		return *d.Spec.SSH.Port
	}
	return opsv1.DefaultSSHPort
}

// SSHUser returns the user that manager pods log in as.
func SSHUser(d *opsv1.Diva) string {
	if d.Spec.SSH == nil {
		return opsv1.DefaultSSHUser
	}
	return cmp.Or(d.Spec.SSH.User, opsv1.DefaultSSHUser)
}

// ExtraPath returns the mount path of the shared claim.
func ExtraPath(d *opsv1.Diva) string { return cmp.Or(d.Spec.Extra.MountPath, opsv1.DefaultExtraPath) }

// Retains reports whether the claims are kept when the Diva is deleted.
func Retains(d *opsv1.Diva) bool { return d.Spec.DeletionPolicy != opsv1.DeletionDelete }

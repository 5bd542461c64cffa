// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package names holds the names and labels of a Diva's children, and the values of the fields that its spec leaves
// out. It decides nothing.
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
	// AppName is the value of NameLabel on all children.
	AppName = "diva"
	// NameLabel is the recommended label for the name of an application.
	NameLabel = "app.kubernetes.io/name"
	// InstanceLabel is the recommended label for an instance of an application: the Diva.
	InstanceLabel = "app.kubernetes.io/instance"

	// ClaimTemplate is the name of the clients' claims before that of their pod.
	ClaimTemplate = "wi"
)

// SecretName is the Secret with the SSH key pair. Only managers mount it.
func SecretName(d *opsv1.Diva) string { return d.Name + "-ssh" }

// ServerSecretName is the Secret with what the clients' sshd needs.
func ServerSecretName(d *opsv1.Diva) string { return d.Name + "-sshd" }

// InventoryName is the ConfigMap with the inventory of clients.
func InventoryName(d *opsv1.Diva) string { return d.Name + "-inventory" }

// ExtraClaim is the claim that the managers share.
func ExtraClaim(d *opsv1.Diva) string { return d.Name + "-extra" }

// Clients are what all clients have in common. Their selector is the article's.
func Clients(d *opsv1.Diva) workload.Identity { return identity(d, "client") }

// Managers likewise. The manager's claim has their name, too.
func Managers(d *opsv1.Diva) workload.Identity { return identity(d, "manager") }

// identity has the article's labels beside the recommended ones.
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

// Labels are on all objects that belong to a Diva.
func Labels(d *opsv1.Diva) map[string]string {
	return map[string]string{
		NameLabel: AppName, InstanceLabel: d.Name, "app.kubernetes.io/part-of": "opcrew", common.ManagedByLabel: common.Name,
	}
}

// Selector selects all that belongs to a Diva.
func Selector(d *opsv1.Diva) map[string]string {
	return map[string]string{NameLabel: AppName, InstanceLabel: d.Name, common.ManagedByLabel: common.Name}
}

// ClientClaim is the claim of the client with this ordinal.
func ClientClaim(d *opsv1.Diva, ordinal int32) string {
	return fmt.Sprintf("%s-%s-%d", ClaimTemplate, Clients(d).Name, ordinal)
}

// ManagerReplicas is the desired number of managers.
func ManagerReplicas(d *opsv1.Diva) int32 {
	if d.Spec.Manager.Replicas != nil {
		return *d.Spec.Manager.Replicas
	}
	return 1
}

// Ports are those of the manager, or the default.
func Ports(d *opsv1.Diva) []common.Port {
	if len(d.Spec.Manager.Ports) > 0 {
		return d.Spec.Manager.Ports
	}
	return []common.Port{{Name: "http", Port: opsv1.DefaultPort, TargetPort: common.TargetPort(fmt.Sprint(opsv1.DefaultTargetPort))}}
}

// SSHPort is the port of the SSH server in clients.
func SSHPort(d *opsv1.Diva) int32 {
	if d.Spec.SSH != nil && d.Spec.SSH.Port != nil {
		return *d.Spec.SSH.Port
	}
	return opsv1.DefaultSSHPort
}

// SSHUser is the user that managers log in as.
func SSHUser(d *opsv1.Diva) string {
	if d.Spec.SSH == nil {
		return opsv1.DefaultSSHUser
	}
	return cmp.Or(d.Spec.SSH.User, opsv1.DefaultSSHUser)
}

// ExtraPath is where the shared claim is mounted.
func ExtraPath(d *opsv1.Diva) string { return cmp.Or(d.Spec.Extra.MountPath, opsv1.DefaultExtraPath) }

// Retains reports whether the claims outlive the Diva.
func Retains(d *opsv1.Diva) bool { return d.Spec.DeletionPolicy != opsv1.DeletionDelete }

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	appName       = "diva"
	nameLabel     = "app.kubernetes.io/name"
	instanceLabel = "app.kubernetes.io/instance"

	// claimTemplate is the name of the clients' claims before that of their pod.
	claimTemplate = "wi"
)

func secretName(d *opsv1.Diva) string    { return d.Name + "-ssh" }
func inventoryName(d *opsv1.Diva) string { return d.Name + "-inventory" }
func extraClaim(d *opsv1.Diva) string    { return d.Name + "-extra" }

// clients are what all clients have in common. Their selector is the article's.
func clients(d *opsv1.Diva) workload.Identity { return identity(d, "client") }

// managers likewise. The manager's claim has their name, too.
func managers(d *opsv1.Diva) workload.Identity { return identity(d, "manager") }

// identity has the article's labels beside the recommended ones.
func identity(d *opsv1.Diva, role string) workload.Identity {
	id := workload.Identity{
		Namespace: d.Namespace, Name: d.Name + "-" + role,
		Selector: map[string]string{"diva-" + role: d.Name},
		Labels:   map[string]string{"app": "diva-" + role, "diva-" + role: d.Name},
	}
	maps.Copy(id.Labels, labels(d))
	id.Labels["app.kubernetes.io/component"] = role
	return id
}

// labels stand on all that belongs to a Diva.
func labels(d *opsv1.Diva) map[string]string {
	return map[string]string{
		nameLabel: appName, instanceLabel: d.Name, "app.kubernetes.io/part-of": "opcrew", common.ManagedByLabel: common.Name,
	}
}

// ours selects all that belongs to a Diva.
func ours(d *opsv1.Diva) map[string]string {
	return map[string]string{nameLabel: appName, instanceLabel: d.Name, common.ManagedByLabel: common.Name}
}

func clientClaim(d *opsv1.Diva, ordinal int32) string {
	return fmt.Sprintf("%s-%s-%d", claimTemplate, clients(d).Name, ordinal)
}

func managerReplicas(d *opsv1.Diva) int32 {
	if d.Spec.Manager.Replicas != nil {
		return *d.Spec.Manager.Replicas
	}
	return 1
}

// ports are those of the manager, or the default.
func ports(d *opsv1.Diva) []common.Port {
	if len(d.Spec.Manager.Ports) > 0 {
		return d.Spec.Manager.Ports
	}
	return []common.Port{{Name: "http", Port: opsv1.DefaultPort, TargetPort: common.TargetPort(fmt.Sprint(opsv1.DefaultTargetPort))}}
}

func sshPort(d *opsv1.Diva) int32 {
	if d.Spec.SSH != nil && d.Spec.SSH.Port != nil {
		return *d.Spec.SSH.Port
	}
	return opsv1.DefaultSSHPort
}

func sshUser(d *opsv1.Diva) string {
	if d.Spec.SSH == nil {
		return opsv1.DefaultSSHUser
	}
	return cmp.Or(d.Spec.SSH.User, opsv1.DefaultSSHUser)
}

func extraPath(d *opsv1.Diva) string { return cmp.Or(d.Spec.Extra.MountPath, opsv1.DefaultExtraPath) }

func retains(d *opsv1.Diva) bool { return d.Spec.DeletionPolicy != opsv1.DeletionDelete }

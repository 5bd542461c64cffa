// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
)

// ClientSettings returns those settings in the spec whose change makes opcrew recreate the client pods.
func ClientSettings(d *opsv1.Diva) any {
	part := d.Spec.Client.Part
	part.Storage = opsv1.Storage{}
	return []any{part, names.SSHPort(d)}
}

// ManagerSettings returns those settings in the spec whose change makes opcrew recreate the manager pods.
func ManagerSettings(d *opsv1.Diva, shared bool) any {
	m, e := d.Spec.Manager, d.Spec.Extra
	m.Ports = slices.Clone(names.Ports(d))
	for i := range m.Ports {
		m.Ports[i].AppProtocol, m.Ports[i].NodePort = "", nil
	}
	m.Storage, e.Storage = opsv1.Storage{}, opsv1.Storage{}
	m.Replicas, e.Replicas = nil, nil //nolint:staticcheck // the field is deprecated only for users
	return []any{m, e, together(d, shared), names.SSHPort(d), names.SSHUser(d)}
}

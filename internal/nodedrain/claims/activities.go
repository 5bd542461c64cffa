// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

const (
	// FleetLabel is a label of the Activities of single hosts, with the name of their fleet.
	FleetLabel = "opcrew.io/fleet"
	// PoolLabel is a label of the Activities of a NodePool's pipelines, with the name of the NodePool.
	PoolLabel = "opcrew.io/nodepool"
)

// Host returns the node on which a fleet or a NodePool has an Activity that is pending or running; empty for any other
// Activity, for one that has ended, and for one on a machine outside the cluster.
func Host(a *egov1.Activity) string {
	if a.Labels[FleetLabel] == "" && a.Labels[PoolLabel] == "" || a.Spec.Schedule != nil || a.Spec.SSH != nil {
		return ""
	}
	begun := a.Status.Run == ptr.Deref(a.Spec.Run, 1)
	if begun && a.Status.Prosta != "" && a.Status.Prosta != egov1.StatePending && a.Status.Prosta != egov1.StateRunning {
		return ""
	}
	return a.Spec.Host
}

// Hosts returns the nodes on which Activities are pending or running, with the Activity as namespace/name. Of several
// Activities on one node, it names the first by name.
func Hosts(all []egov1.Activity) map[string]string {
	out := map[string]string{}
	for i := range all {
		host, name := Host(&all[i]), all[i].Namespace+"/"+all[i].Name
		if host != "" && (out[host] == "" || name < out[host]) {
			out[host] = name
		}
	}
	return out
}

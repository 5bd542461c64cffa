// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// A status can be lost: edited by hand, or by a tool that puts objects back without it. What it knew stands in the
// members, too. Until they have told it nothing is changed: to whom nothing is known all members of later than the
// beginning, and their data, would be other owners.

// orphan names a pod or claim that only a cluster which was formed can have, where the status knows of none; empty:
// there is none.
func (f facts) orphan(c *etcdv1beta2.EtcdCluster) string {
	if c.Status.ClusterID != "" || c.Status.Restore != nil {
		return ""
	}
	var found []string
	for name, pod := range f.pods {
		if joinedLater(pod) || isEstablished(pod) {
			found = append(found, "pod "+name)
		}
	}
	for name, claim := range f.claims {
		if joinedLater(claim) {
			found = append(found, "claim "+name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// joinedLater: first members say how many there are to be of them.
func joinedLater(object client.Object) bool { return object.GetAnnotations()[firstAnnotation] == "" }

func isEstablished(object client.Object) bool {
	return strings.HasPrefix(object.GetAnnotations()[startAnnotation], string(etcdstart.Established)+" ")
}

// recollect has the status know again what the members say of their cluster, if a quorum of them does and none of the
// pods is of another: else two lineages may be there, and it is not known which of them is the one.
func (f facts) recollect(c *etcdv1beta2.EtcdCluster) bool {
	if f.view.Err != nil || f.view.Stale || f.view.At.IsZero() || !f.view.HasQuorum() {
		return false
	}
	members := map[string]bool{}
	for _, m := range f.view.Members {
		if len(m.PeerURLs) > 0 {
			members[nameOf(m.PeerURLs[0])] = true
		}
	}
	for name, pod := range f.pods {
		if isEstablished(pod) && !members[name] {
			return false
		}
	}
	c.Status.Serial = f.highest(c)
	c.Status.ClusterID = clusterID(f.view.ClusterID)
	return true
}

func (f facts) reportStatusLost(set condition.Set, c *etcdv1beta2.EtcdCluster) {
	text := fmt.Sprintf("The status is lost, and %s is of a cluster that was formed: nothing is changed until a quorum of the members (%s) has said who they are; or put the status back",
		f.orphan(c), strings.Join(slices.Sorted(maps.Keys(f.pods)), ", "))
	set.False(etcdv1beta2.EtcdClusterAvailable, etcdv1beta2.ReasonStatusLost, text)
	set.False(etcdv1beta2.EtcdClusterMembersReady, etcdv1beta2.ReasonStatusLost, text)
	set.SumUp(blockers, etcdv1beta2.ReasonAllMembersReady, "")
}

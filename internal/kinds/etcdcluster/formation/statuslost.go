// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package formation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// A status can be lost: edited by hand, or by a tool that restores objects without it. The members know what was in it. Until
// they have reported it nothing is changed: without it all later members, and their data, would look like those of others.

// Orphan names a pod or claim that only a cluster which was formed can have, where the status knows of none; empty: there is
// none.
func (in *Input) Orphan() string {
	if in.Cluster.Status.ClusterID != "" || in.Cluster.Status.Restore != nil {
		return ""
	}
	var found []string
	for name, pod := range in.Pods {
		if joinedLater(pod) || isEstablished(pod) {
			found = append(found, "pod "+name)
		}
	}
	for name, claim := range in.Claims {
		if joinedLater(claim) {
			found = append(found, "claim "+name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// joinedLater reports whether a pod or claim is not of a first member: those record how many first members there are.
func joinedLater(object client.Object) bool {
	return object.GetAnnotations()[model.FirstMembersAnnotation] == ""
}

func isEstablished(object client.Object) bool {
	return strings.HasPrefix(object.GetAnnotations()[model.StartAnnotation], string(etcdstart.Established)+" ")
}

// Recollect writes to the status what the members report of their cluster, if a quorum of them does and no pod is of
// another. Otherwise there may be two lineages, and it is unknown which of them is the cluster.
func (in *Input) Recollect() bool {
	if in.View.Err != nil || in.View.Stale || in.View.At.IsZero() || !in.View.HasQuorum() {
		return false
	}
	members := map[string]bool{}
	for _, m := range in.View.Members {
		if len(m.PeerURLs) > 0 {
			members[model.NameInURL(m.PeerURLs[0])] = true
		}
	}
	for name, pod := range in.Pods {
		if isEstablished(pod) && !members[name] {
			return false
		}
	}
	in.Cluster.Status.Serial = in.HighestSerial()
	in.Cluster.Status.ClusterID = model.FormatID(in.View.ClusterID)
	return true
}

// StatusLost is reported while the members have not reported what the status has lost.
func (in *Input) StatusLost() string {
	return fmt.Sprintf("The status is lost, and %s is of a cluster that was formed: nothing is changed until a quorum of the members (%s) has said who they are; or put the status back",
		in.Orphan(), strings.Join(slices.Sorted(maps.Keys(in.Pods)), ", "))
}

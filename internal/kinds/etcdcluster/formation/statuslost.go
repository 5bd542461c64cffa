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

// The status of an EtcdCluster can be lost: a user may delete it, or a backup tool may restore the object without it.
// The members know what the status held. Until they have reported it, opcrew changes nothing.

// Orphan names a pod or claim of a member that can exist only after the cluster was formed, while the status does not
// record that it was formed. Such an object shows that the status was lost. Orphan returns "" if there is none.
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

// joinedLater reports whether a pod or claim belongs to a member that joined after the cluster was formed. Objects of
// first members have the annotation with the number of first members.
func joinedLater(object client.Object) bool {
	return object.GetAnnotations()[model.FirstMembersAnnotation] == ""
}

func isEstablished(object client.Object) bool {
	return strings.HasPrefix(object.GetAnnotations()[model.StartAnnotation], string(etcdstart.Established)+" ")
}

// Recollect fills in a lost status from what a quorum of members reports, and returns true. It returns false if a pod
// belongs to no reported member, because another cluster with other data may then exist.
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

// StatusLost returns the message to show until the members have reported what the lost status held.
func (in *Input) StatusLost() string {
	return fmt.Sprintf("The status of the EtcdCluster was lost, but %s shows that the cluster had already been formed. opcrew changes nothing until a quorum of the members (%s) has reported the member list, or until you restore the status",
		in.Orphan(), strings.Join(slices.Sorted(maps.Keys(in.Pods)), ", "))
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package formation

import (
	"strconv"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Identities returns the names and IDs of the cluster's members: as etcd listed them, or else as the status recorded
// them. Before the cluster is formed, it returns the first members.
func (in *Input) Identities() []model.Member {
	serials := model.SerialsBelow(in.Cluster, in.HighestSerial()+model.SerialsAhead)
	var out []model.Member
	switch {
	case in.Cluster.Status.ClusterID == "":
		for serial, name := range in.firstNames() {
			out = append(out, model.Member{Name: name, Serial: int64(serial), ID: model.BootstrapID(in.Cluster, name), Started: true})
		}
	case model.Decides(in.Cluster, in.View):
		for _, m := range in.View.Members {
			name := m.Name
			if len(m.PeerURLs) > 0 {
				name = model.NameInURL(m.PeerURLs[0])
			}
			out = append(out, model.Member{Name: name, Serial: model.SerialOf(serials, name), ID: m.ID, Learner: m.Learner, Started: m.Started()})
		}
	default:
		for _, m := range in.Cluster.Status.Membership {
			id, _ := strconv.ParseUint(m.ID, 16, 64)
			out = append(out, model.Member{Name: m.Name, Serial: model.SerialOf(serials, m.Name), ID: id, Learner: m.Learner, Started: true})
		}
	}
	return out
}

// HighestSerial returns the highest serial number in the status and on all pods and claims.
func (in *Input) HighestSerial() int64 {
	highest := in.Cluster.Status.Serial
	if in.Cluster.Status.ClusterID == "" {
		highest = int64(in.First()) - 1
	}
	if at := in.Cluster.Status.Restore; at != nil { // no other member may ever get the serial of a restore
		highest = max(highest, at.Serial)
	}
	for _, pod := range in.Pods {
		highest = max(highest, model.SerialIn(pod.Annotations))
	}
	for _, claim := range in.Claims {
		highest = max(highest, model.SerialIn(claim.Annotations))
	}
	return highest
}

// NextSerial returns the serial number for a new member. It is higher than any serial number that the cluster has ever
// used.
func (in *Input) NextSerial(members []model.Member) int64 {
	highest := in.HighestSerial()
	for _, m := range members {
		highest = max(highest, m.Serial)
	}
	return highest + 1
}

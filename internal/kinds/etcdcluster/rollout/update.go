// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// awaitAgreement waits, before a change of the minor version, until the cluster version matches what all members run.
// Members agree on the cluster version every few seconds (etcd: monitorVersionInterval). Until then, etcd would accept
// a member that is two minor versions newer.
func awaitAgreement(in *Input) steps.Verdict {
	low, spoken, why := Lowest(in.Members), in.View.ClusterVersion, ""
	if in.Target == "" || versions.SameMinor(low, in.Target) || versions.SameMinor(low, spoken) {
		return steps.Verdict{}
	}
	if err := in.View.VersionErr; err != nil {
		why = fmt.Sprintf(": %v", err)
	}
	if spoken == "" {
		return steps.Verdict{Waits: "the cluster to report its cluster version, on which the members agree" + why}
	}
	return steps.Verdict{Waits: fmt.Sprintf("the members to agree on cluster version %s (it is still %s)%s", versions.MinorOf(low), versions.MinorOf(spoken), why)}
}

// recreateOutdated recreates pods with outdated settings before opcrew makes members write a snapshot, because the
// settings may affect snapshots.
func recreateOutdated(in *Input) steps.Verdict {
	if !in.SnapshotDue {
		return steps.Verdict{}
	}
	return in.next(in.recreates)
}

func advanceLog(in *Input) steps.Verdict {
	if !in.SnapshotDue {
		return steps.Verdict{}
	}
	return in.AdvanceLog
}

func changeNext(in *Input) steps.Verdict {
	return in.next(func(m model.Member) bool {
		return in.Target != "" && model.VersionOf(m.Pod) != in.Target || in.recreates(m)
	})
}

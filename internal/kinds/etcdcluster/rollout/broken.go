// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/snapshot"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/versions"
)

// Repair changes a member whose etcd does not run, so that a user can correct a wrong image or setting. The cluster
// loses no working member by this, so no quorum is needed. opcrew tries a new version or setting on one member, and on
// others only once that member is healthy.
func Repair(in *Input) steps.Verdict {
	if in.Invalid {
		return steps.Verdict{}
	}
	for i, m := range in.Members {
		if m.Healthy || m.Patched || m.Lost != "" || !model.Broken(m.Pod) {
			continue
		}
		switch {
		case in.Target != "" && model.VersionOf(m.Pod) != in.Target && in.mayTry(m):
			return steps.Verdict{Change: &in.Members[i], Version: in.Target}
		case (in.Persistent || !m.Started) && m.Differs && !in.failed(m, func(other model.Member) bool { return !other.Differs }):
			return steps.Verdict{Recreate: m.Name}
		}
	}
	return steps.Verdict{}
}

// mayTry reports whether a broken member may change to the target version. A change to an older version is always
// allowed. A newer version is not allowed if it might not be able to read the member's log, or if another member with
// this version already fails.
func (in *Input) mayTry(m model.Member) bool {
	back := !versions.Older(in.CurrentVersion, in.Target)
	return back || !in.mayNotRead(m) && !in.failed(m, func(other model.Member) bool { return model.VersionOf(other.Pod) == in.Target })
}

// mayNotRead reports whether the target version might not be able to read the member's log. A broken member does not
// report its log index. But if another member already runs the target version, all members wrote a snapshot before
// that.
func (in *Input) mayNotRead(m model.Member) bool {
	reached := func(other model.Member) bool {
		return other.Answers && !versions.Older(other.Version, snapshot.FirstWithoutOldEntries)
	}
	return versions.Older(model.VersionOf(m.Pod), snapshot.FirstWithoutOldEntries) && in.SnapshotDue && !in.any(reached)
}

// failed reports whether any member other than m for which sort returns true has a pod and is not healthy.
func (in *Input) failed(m model.Member, sort func(model.Member) bool) bool {
	return in.any(func(other model.Member) bool {
		return other.Name != m.Name && !other.Healthy && other.Pod != nil && sort(other)
	})
}

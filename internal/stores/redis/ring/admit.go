// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// admit lets replicas copy processes that were started at an address, once no replica is left that would take them for
// who was there before. One that does not answer may only be cut off: what counts is what it copied when it last did, unless
// its kubelet has its container not run. Of one that has not answered since the looks began nothing is known, and it is
// not waited for: mostly it is down, and drops the address that it knew when it is started again. To wait for all would leave
// shards without a replica for as long as any pod is away.
func admit(f *facts) verdict {
	var out verdict
	step := redis.Admit{Runs: map[string]string{}}
	for _, p := range f.answering() {
		if !p.status.Barred {
			continue
		}
		if replica := f.misled(p); replica != nil {
			out.add(refuse(Misled, "%s would copy %s, which has the address of its primary %s by now", replica, p, cmp.Or(replica.status.PrimaryID, "(it does not say who that is)")))
			continue
		}
		step.Runs[p.Address] = p.status.RunID
	}
	if len(step.Runs) > 0 {
		out.add(take(step, "let replicas copy %s", list(f.where(func(p *proc) bool { _, is := step.Runs[p.Address]; return is }))))
	}
	return out
}

// misled is a process that copies one, and is the replica of another.
func (f *facts) misled(p *proc) *proc {
	for _, replica := range f.procs {
		status := replica.status
		if status.Source == p.Address && status.PrimaryID != p.id() && (replica.answers || !replica.ended) {
			return replica
		}
	}
	return nil
}

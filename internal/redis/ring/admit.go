// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"

	"github.com/opcrew/opcrew/internal/redis"
)

// admit lets replicas copy processes that were started at an address, once no replica is left that would take them for
// who was there before. One that does not answer is not waited for: mostly it is down, and who starts again drops the
// address that it knew. One that runs and is only cut off does not drop it, and copies who is there when it is back: that
// takes a partition while its primary moves and another takes the address. To wait for all would leave a shard without a
// replica for as long as any pod is away.
func admit(f *facts) verdict {
	var out verdict
	var step redis.Admit
	for _, p := range f.answering() {
		if !p.status.Barred {
			continue
		}
		if replica := f.misled(p); replica != nil {
			out.add(refuse(Misled, "%s would copy %s, which has the address of its primary %s by now", replica, p, replica.status.PrimaryID))
			continue
		}
		step.At = append(step.At, p.Address)
	}
	if len(step.At) > 0 {
		out.add(take(step, "let replicas copy %s", f.at(step.At)))
	}
	return out
}

// misled is a replica that copies a process, and is the replica of another.
func (f *facts) misled(p *proc) *proc {
	for _, replica := range f.answering() {
		if replica.status.Role == redis.Replica && replica.status.Source == p.Address && replica.status.PrimaryID != p.id() {
			return replica
		}
	}
	return nil
}

// at names the processes at some addresses.
func (f *facts) at(addresses []string) string {
	return list(f.where(func(p *proc) bool { return slices.Contains(addresses, p.Address) }))
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// admit lets replicas copy a server that has started at an address. It waits while any replica would mistake that
// server for its own primary, which had the same address before.
func admit(in *input) verdict {
	var out verdict
	step := redis.Admit{Runs: map[string]string{}}
	admitted := in.where(func(p *proc) bool { return p.answers && p.status.NotAdmitted && wouldMistake(in.all, p) == nil })
	for _, p := range in.where(func(p *proc) bool { return p.answers && p.status.NotAdmitted }) {
		if replica := wouldMistake(in.all, p); replica != nil {
			primary := cmp.Or(replica.status.PrimaryID, "(the replica does not report its ID)")
			out.add(refuse(Misled, "%s would copy the wrong server: %s now has the address of the replica's primary %s", replica, p, primary))
			continue
		}
		step.Runs[p.Address] = p.status.RunID
	}
	if len(admitted) > 0 {
		out.add(take(step, "allow replicas to copy %s", list(admitted)))
	}
	return out
}

// wouldMistake returns a replica that copies p although its primary is a different server; nil if there is none. The
// last answer of a silent replica counts, because it may still run. For silent replicas without an answer, see
// docs/design/redis.md.
func wouldMistake(procs []*proc, p *proc) *proc {
	for _, replica := range procs {
		status := replica.status
		if status.Source == p.Address && status.PrimaryID != p.id() && (replica.answers || !replica.ended) {
			return replica
		}
	}
	return nil
}

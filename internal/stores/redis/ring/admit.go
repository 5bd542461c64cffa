// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"cmp"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// admit lets replicas copy a newly started server. It waits while the primary of some replica previously had the same
// address, because that replica would copy the wrong server.
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

// wouldMistake returns a replica that copies from p's address although p is not its primary; nil if there is none. A
// silent replica may still run, so its last answer counts. docs/design/redis.md describes silent replicas whose
// last answer is unknown.
func wouldMistake(procs []*proc, p *proc) *proc {
	for _, replica := range procs {
		status := replica.status
		if status.Source == p.Address && status.PrimaryID != p.id() && (replica.answers || !replica.ended) {
			return replica
		}
	}
	return nil
}

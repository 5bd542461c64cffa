// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// facts holds the input of the decision whether etcd may start.
type facts struct {
	own   marker  // what the marker file on the volume says if this member owns the volume
	found *marker // what the marker file on the volume says; nil if there is no such file
	mode  etcdstart.Mode
	log   bool
}

// decision is the result: etcd may start, or must not start for a reason. If mark is set, the marker (the file that
// names the member that owns the volume) must be written before etcd starts.
type decision struct {
	mark    bool
	refusal *etcdstart.Report
}

func decide(f facts) decision {
	switch {
	case f.log && f.found == nil && f.mode == etcdstart.Restored:
		return decision{mark: true}
	case f.log && f.found == nil:
		return refuse(etcdstart.VolumeForeign, "the volume has no marker, so its log may belong to another member; expected the log of %s", f.own)
	case f.log && *f.found != f.own:
		return refuse(etcdstart.VolumeForeign, "the volume has the log of %s; expected the log of %s", *f.found, f.own)
	case f.log:
		return decision{}
	case f.mode == etcdstart.Established:
		return refuse(etcdstart.VolumeLost, "%s was part of its cluster and has lost its log (%s); without the log, it could contradict its own votes and lose acknowledged writes", f.own, f.remains())
	case f.mode == etcdstart.Restored:
		return refuse(etcdstart.VolumeLost, "%s must start from a backup, but the volume contains no restored data", f.own)
	case f.mode != etcdstart.Bootstrap && f.mode != etcdstart.Join:
		return refuse(etcdstart.NoAuthorisation, "%q is not a start mode", f.mode)
	case f.found != nil && *f.found != f.own:
		return refuse(etcdstart.VolumeForeign, "the volume has no log, but its marker belongs to %s; expected a new volume, or the volume of %s", *f.found, f.own)
	}
	// The marker, which names the volume's owner, is written again even if it exists, because an interrupted start may
	// not have synced it to disk. If it were lost later, the log would look like the log of another member.
	return decision{mark: true}
}

// remains describes which member the volume belongs to, according to its marker file: this member, another member, or
// unknown because there is no marker.
func (f facts) remains() string {
	switch {
	case f.found == nil:
		return "the volume has no marker"
	case *f.found == f.own:
		return "the volume still has its marker"
	}
	return fmt.Sprintf("the marker on the volume is that of %s", *f.found)
}

func refuse(reason etcdstart.Reason, format string, args ...any) decision {
	return decision{refusal: &etcdstart.Report{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

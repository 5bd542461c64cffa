// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// facts are all that a decision depends on.
type facts struct {
	own   marker  // what the marker has to say
	found *marker // what it does say; nil: there is none
	mode  etcdstart.Mode
	log   bool
}

// decision is to start, after the marker was written if need be, unless there is a refusal.
type decision struct {
	mark    bool
	refusal *etcdstart.Report
}

func decide(f facts) decision {
	switch {
	case f.log && f.found == nil && f.mode == etcdstart.Restored:
		return decision{mark: true}
	case f.log && f.found == nil:
		return refuse(etcdstart.VolumeForeign, "the volume holds the log of some member, and no marker tells of which; expected that of %s", f.own)
	case f.log && *f.found != f.own:
		return refuse(etcdstart.VolumeForeign, "the volume holds the log of %s; expected that of %s", *f.found, f.own)
	case f.log:
		return decision{}
	case f.mode == etcdstart.Established:
		return refuse(etcdstart.VolumeLost, "%s has been part of its cluster, and its log is gone (%s): without it the member would go back on what it has voted for and acknowledged", f.own, f.remains())
	case f.mode == etcdstart.Restored:
		return refuse(etcdstart.VolumeLost, "%s was to begin with a backup, and there is nothing of one", f.own)
	case f.mode != etcdstart.Bootstrap && f.mode != etcdstart.Join:
		return refuse(etcdstart.NoAuthorisation, "%q is no mode", f.mode)
	case f.found != nil && *f.found != f.own:
		return refuse(etcdstart.VolumeForeign, "the volume is that of %s, though it holds no log; expected one that is new or that of %s", *f.found, f.own)
	}
	// Also where the marker is there: a start that was cut off may have left one that is not on
	// the disk yet. Lost later, it would make the log beside it look like that of someone else.
	return decision{mark: true}
}

// remains tells an emptied directory from an empty volume and from another member's.
func (f facts) remains() string {
	switch {
	case f.found == nil:
		return "the volume has no marker either"
	case *f.found == f.own:
		return "the marker is there"
	}
	return fmt.Sprintf("the marker is that of %s", *f.found)
}

func refuse(reason etcdstart.Reason, format string, args ...any) decision {
	return decision{refusal: &etcdstart.Report{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package drift

import (
	"maps"
	"slices"
	"time"

	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
)

// Policy is what the pool wants to happen with drift.
type Policy string

// The policies. Report is the default, and also the original's behaviour.
const (
	Report Policy = "Report"
	Repair Policy = "Repair"
	Adopt  Policy = "Adopt"
)

const (
	// maxRepairs is how many repairs of a key within contestTime another program may undo. The time is that of several
	// scans, because a change that no event shows is found only by a scan.
	maxRepairs  = 3
	contestTime = 40 * time.Minute
)

// Repairs are the times of recent repairs of each key.
type Repairs map[ledger.Key][]time.Time

// Decision is what to do with drift. Each drift is in exactly one of the lists.
type Decision struct {
	Repair, Adopt, Report []Drift
	// Contested is the drift in Report that another program keeps bringing back.
	Contested []Drift
}

// Decide applies the policy. Drift of what is no longer declared is only reported: its original stays in the ledger.
func Decide(policy Policy, drifts []Drift, recent Repairs, now time.Time) (out Decision) {
	for _, d := range drifts {
		switch {
		case d.Undeclared, policy != Repair && policy != Adopt:
			out.Report = append(out.Report, d)
		case policy == Adopt:
			out.Adopt = append(out.Adopt, d)
		case recent.isContested(d.Key, now):
			out.Report, out.Contested = append(out.Report, d), append(out.Contested, d)
		default:
			out.Repair = append(out.Repair, d)
		}
	}
	return out
}

func (r Repairs) isContested(key ledger.Key, now time.Time) bool {
	return len(r.within(key, now)) >= maxRepairs
}

func (r Repairs) within(key ledger.Key, now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(r[key]), func(t time.Time) bool { return now.Sub(t) >= contestTime || t.After(now) })
}

// Add returns the repairs with those of a decision, and without old ones.
func (r Repairs) Add(repaired []Drift, now time.Time) Repairs {
	out := Repairs{}
	for key := range r {
		if times := r.within(key, now); len(times) > 0 {
			out[key] = times
		}
	}
	for _, d := range repaired {
		out[d.Key] = append(out[d.Key], now)
	}
	return out
}

// Adopted returns the ledger after opcrew adopted drift: what the host has now is the new original, and it stays until
// the configuration declares another state than the one that it replaced.
func Adopted(l ledger.Ledger, drifts []Drift) ledger.Ledger {
	out := ledger.Ledger{Config: l.Config, Records: maps.Clone(l.Records)}
	for _, d := range drifts {
		r, known := out.Records[d.Key]
		if !known || r.Undeclared {
			continue
		}
		if r.Instead == nil {
			desired := r.Written
			r.Instead = &desired
		}
		r.Before, r.Written, r.Pending, r.Previous, r.Unlabelled = d.Found, d.Found, false, ledger.State{}, false
		out.Records[d.Key] = r
	}
	return out
}

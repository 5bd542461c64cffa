// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"slices"
	"time"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// decideRing is pure: what the Secret is to hold next, one step from what it holds. held
// says why there is nothing to hold yet, or why a key that was given is not taken.
func decideRing(d *opsv1.Diva, f facts, now time.Time) (next *ring, held *obstacle) {
	held = f.given.wrong
	switch r := f.ring; {
	case r == nil && held != nil && !f.remembers(d):
		return nil, held
	case r == nil:
		return begin(d, f, now), held
	case r.host == nil:
		return r.withHost(d, f.fresh.host), held
	default:
		return r.step(d, f, now), held
	}
}

// begin makes a ring where there is none. Where clients run that were told another key,
// which only the status remembers, they are brought to the new one first: the old private
// key is still where the manager logs in with it.
func begin(d *opsv1.Diva, f facts, now time.Time) *ring {
	r := &ring{current: f.wanted(), identity: true, made: now, request: d.Annotations[rotateRequested]}
	host := f.fresh.host
	if f.secret != nil { // only the pair in it was lost
		if left, _ := parsePair(string(f.secret.Data[hostKey])); left != nil {
			host = left
		}
	}
	if !f.remembers(d) {
		r.host = host
		return r
	}
	if told := d.Status.SSH; told.PublicKey != r.current.public {
		r.previous, r.identity = told.PublicKey, false
	}
	return r.withHost(d, host)
}

// formerHostsKept bounds the host keys that a manager knows clients by beside the present
// one: each is of clients that run since before one was lost.
const formerHostsKept = 3

// withHost has another host's pair, and remembers those before it.
func (r *ring) withHost(d *opsv1.Diva, host *pair) *ring {
	out := *r
	out.host, out.formerHosts = host, nil
	former := r.formerHosts
	if told := d.Status.SSH; told != nil {
		former = slices.Concat([]string{told.HostKey}, told.FormerHostKeys, former)
	}
	for _, key := range former {
		if key != "" && key != host.public && !slices.Contains(out.formerHosts, key) && len(out.formerHosts) < formerHostsKept {
			out.formerHosts = append(out.formerHosts, key)
		}
	}
	return &out
}

// remembers reports whether pods run with keys that only the status remembers.
func (f facts) remembers(d *opsv1.Diva) bool {
	return d.Status.SSH != nil && d.Status.SSH.PublicKey != "" && len(f.boundClients())+len(f.boundManagers()) > 0
}

// wanted is the pair that is given, or a fresh one.
func (f facts) wanted() *pair {
	if f.given.pair != nil {
		return f.given.pair
	}
	return f.fresh.pair
}

// step goes on with a change of the pair, or begins one. It goes on only when all pods that
// it is about serve what the step before made.
func (r *ring) step(d *opsv1.Diva, f facts, now time.Time) *ring {
	out := *r
	switch r.phase() {
	case opsv1.SSHAuthorizing:
		if g := f.given.pair; r.next != nil && g != nil && g.public != r.next.public {
			out.next = g // another one was given meanwhile
			if g.public == r.current.public {
				out.next = nil
			}
			break
		}
		if f.clientsLag(d, r) > 0 {
			break
		}
		if r.next != nil {
			out.previous, out.former, out.current, out.next, out.made = r.current.public, r.current, r.next, nil, now
		}
		out.identity = true
	case opsv1.SSHSwitching:
		if f.managersLag(d, r) == 0 {
			out.previous, out.former = "", nil
		}
	default:
		if g := f.given.pair; g != nil && g.public == r.current.public {
			out.current = g // perhaps in another form: the user may know why
		}
		if r.due(d, f.given, now) {
			out.next, out.request = f.wanted(), d.Annotations[rotateRequested]
		}
	}
	return &out
}

// due reports whether the pair is to be changed: the user gives another one, asks for it, or
// it is old. One that is given is changed by anyone who gives it.
func (r *ring) due(d *opsv1.Diva, g given, now time.Time) bool {
	switch {
	case g.wrong != nil:
		return false
	case g.pair != nil:
		return g.pair.public != r.current.public
	case d.Annotations[rotateRequested] != r.request && d.Annotations[rotateRequested] != "":
		return true
	}
	age := r.age(d)
	return age > 0 && !now.Before(r.made.Add(age))
}

// age is how old the pair may become, 0 for any age.
func (r *ring) age(d *opsv1.Diva) time.Duration {
	if d.Spec.SSH == nil {
		return 0
	}
	return d.Spec.SSH.RotateAfter.Duration()
}

// expires is when the pair will be too old, in how long; 0 for never.
func (r *ring) expires(d *opsv1.Diva, g given, now time.Time) time.Duration {
	age := r.age(d)
	if age == 0 || g.pair != nil || g.wrong != nil || r.phase() != opsv1.SSHInUse {
		return 0
	}
	return max(time.Second, r.made.Add(age).Sub(now))
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Whose data is corrupt is not what etcd's alarm says: its periodic check compares followers with the leader, and
// accuses the first that differs, even if it is the leader whose data has changed (PeriodicCheck of
// etcd's server/etcdserver/corrupt.go). So no one is taken out before all members were compared, and only
// who differs from what a majority of the voters has. Until the alarm is taken back no one can write,
// which keeps what is compared the same.

const (
	// comparedFor is for how long a comparison holds, and undecidedFor one that some have not answered.
	comparedFor, undecidedFor = 10 * time.Minute, 30 * time.Second
	// catchUp is how long a member may take to carry out what others have.
	catchUp = 5 * time.Second
)

// mendCorrupt replaces members whose data is not that of the majority, and takes the alarm back when all have
// the same.
func (f facts) mendCorrupt(_ *etcdv1beta2.EtcdCluster, d *decision) bool {
	alarms := f.alarms(etcd.AlarmCorrupt)
	if len(alarms) == 0 {
		return false
	}
	v, known := f.verdict()
	switch {
	case len(f.view.Voters()) == 1 && len(f.ofNobody(alarms)) == len(alarms):
		d.step = disarm(alarms, "its member was taken out")
	case !known:
		d.step = compare(f.view.Voters())
	case len(v.odd) > 0:
		f.replaceOdd(d, v)
	case v.agree:
		d.step = disarm(alarms, "all voters have the same data")
	default:
		d.waits = "somebody to decide whose data is right: " + v.why
	}
	return true
}

// replaceOdd takes out one that differs. Its successor is added, as a learner, when the alarm is gone.
func (f facts) replaceOdd(d *decision, v verdict) {
	i := slices.IndexFunc(d.members, func(m member) bool { return m.id == v.odd[0] })
	if i < 0 { // it is compared by the same view
		return
	}
	m := d.members[i]
	if !f.outvotes(v, m) {
		d.waits = "a quorum of voters with the same data, to replace " + m.name
		return
	}
	d.step = f.spared(d, m, rebuild(m))
}

// outvotes reports whether those who have the majority's data can take a member out, and go on without it.
func (f facts) outvotes(v verdict, m member) bool {
	right, answer := 0, 0
	for _, voter := range f.view.Voters() {
		status := f.view.Status[voter.ID]
		if status.Err != nil || status.Leader == 0 {
			continue
		}
		answer++
		if voter.ID != m.id && !slices.Contains(v.odd, voter.ID) {
			right++
		}
	}
	left := len(f.view.Voters()) - 1
	return answer >= f.view.Quorum() && right >= left/2+1
}

// rebuild takes a member out whose data is corrupt, if etcd still says that someone's is.
func rebuild(m member) *step {
	s := remove(m, "its data is not that of the majority (alarm CORRUPT)")
	take := s.do
	s.confirm = false // pod and volume are as they should be
	s.do = func(ctx context.Context, store etcd.Store) error {
		status, err := store.Status(ctx, m.client)
		if err == nil && !slices.ContainsFunc(status.Alarms(), func(a etcd.Alarm) bool { return a.Kind == etcd.AlarmCorrupt }) {
			return errPassed
		}
		return take(ctx, store)
	}
	return s
}

// verdict is what a comparison says of the voters.
type verdict struct {
	// agree: all have the same data, and there are at least two.
	agree bool
	// odd are those whose data is not that which a majority has.
	odd []uint64
	// why says why it can be informed of no one.
	why string
}

// verdict is that on the members as they are, if they were compared.
func (f facts) verdict() (verdict, bool) {
	was := f.tended.compared
	if was == nil || f.now.Sub(was.at) >= comparedFor {
		return verdict{}, false
	}
	voters := f.view.Voters()
	for _, m := range voters {
		_, summed := was.sums[m.ID]
		if _, failed := was.failed[m.ID]; !summed && !failed {
			return verdict{}, false // it has joined since
		}
	}
	v := judge(voters, *was)
	decided := v.agree || len(v.odd) > 0 || len(was.failed) == 0
	return v, decided || f.now.Sub(was.at) < undecidedFor
}

// judge says who is in the right: a majority of all voters, those that did not answer too.
func judge(voters []etcd.Member, was comparison) verdict {
	if len(voters) == 1 {
		return verdict{why: "there is no other member to compare it with"}
	}
	right, have := was.most(voters)
	if have < len(voters)/2+1 {
		none := fmt.Sprintf("no majority of the %d voters has the same data", len(voters))
		return verdict{why: cmp.Or(was.unknown(voters), none)}
	}
	out := verdict{agree: have == len(voters)}
	for _, m := range voters {
		if sum, ok := was.sums[m.ID]; ok && sum != right {
			out.odd = append(out.odd, m.ID)
		}
	}
	if !out.agree && len(out.odd) == 0 {
		out.why = was.unknown(voters)
	}
	return out
}

// corrupt says what is known of corrupt data, and what is done about it.
func (f facts) corrupt() string {
	alarms := f.alarms(etcd.AlarmCorrupt)
	if len(alarms) == 0 {
		return ""
	}
	says := fmt.Sprintf("Writes are refused: etcd says that data is corrupt (alarm CORRUPT of %s)", f.nameOf(alarms[0].Member))
	v, known := f.verdict()
	switch {
	case !known:
		return says + "; the members are compared"
	case len(v.odd) > 0:
		return says + "; the data of " + f.nameOf(v.odd[0]) + " is not that of the majority, and the member is replaced"
	case v.agree:
		return says + "; all voters have the same data, and the alarm is taken back"
	}
	return says + "; " + v.why + ", so nothing is done: restore a backup, or take the alarm back (etcdctl alarm disarm) if you know whose data is right"
}

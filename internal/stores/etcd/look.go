// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Look reads the cluster: it lists the members and queries all of them for their status concurrently.
func (l *looker) Look(ctx context.Context, before View) View {
	view := View{At: l.Clock().Now(), ClusterID: before.ClusterID, Members: before.Members, ClusterVersion: before.ClusterVersion, Decided: before.Decided}
	store, done, err := l.Use()
	if err != nil {
		view.Err = err
		return view
	}
	defer done()
	target := l.Target()
	round := l.begin(ctx, store)
	round.Ask(target.Endpoints...)
	round.Ask(endpoints(target.divide(before.Members))...)
	if view.list(ctx, store, target); view.Err == nil {
		round.Ask(endpoints(view.Members)...)
	}
	view.fill(target.Endpoints, statuses(round.Wait()))
	view.Foreign = foreign(view.Members)
	view.weigh(target.Waste)
	view.askVersion(ctx, store)
	view.noteAgreement(before)
	view.noteDecided(before)
	return view
}

// list reads the list of members. If another cluster answers than before, the known cluster version no longer applies.
func (v *View) list(ctx context.Context, store Store, target Target) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	id, members, err := store.Members(ctx)
	if err != nil {
		v.Err = fmt.Errorf("list the members: %w", err)
		return
	}
	if id != v.ClusterID {
		v.ClusterVersion = ""
	}
	v.ClusterID, v.Members = id, target.divide(members)
}

// endpoints returns the client URL of each member that has one.
func endpoints(members []Member) []string {
	var out []string
	for _, m := range members {
		if at, has := m.Endpoint(); has {
			out = append(out, at)
		}
	}
	return out
}

// fill stores each status under the ID of the member that sent it. answers holds them by endpoint.
func (v *View) fill(wanted []string, answers map[string]MemberStatus) {
	v.Status = map[uint64]MemberStatus{}
	for _, status := range answers {
		if v.trusts(status) {
			v.Status[status.ID] = status
		}
	}
	for _, m := range v.Members {
		if _, answered := v.Status[m.ID]; !answered && m.Started() {
			v.Status[m.ID] = MemberStatus{Err: m.whyNot(answers)}
		}
	}
	for _, endpoint := range wanted {
		if !v.trusts(answers[endpoint]) && !slices.Contains(endpoints(v.Members), endpoint) {
			v.Absent = append(v.Absent, endpoint)
		}
	}
}

// trusts reports whether a status answer is from a member of this cluster. A removed member that still runs does not
// count, nor does a member of another cluster.
func (v *View) trusts(status MemberStatus) bool {
	if status.Err != nil || status.ID == 0 {
		return false
	}
	_, listed := v.Member(status.ID)
	return v.Err != nil || listed && status.ClusterID == v.ClusterID
}

// whyNot explains why there is no status of a member that has run before.
func (m Member) whyNot(answers map[string]MemberStatus) error {
	endpoint, has := m.Endpoint()
	answer := answers[endpoint]
	if !has {
		return errors.New(Foreign{m.ID, m.Foreign[0]}.String())
	}
	if answer.Err != nil {
		return answer.Err
	}
	return fmt.Errorf("%s: member %x of cluster %x responds at this address instead", endpoint, answer.ID, answer.ClusterID)
}

const (
	// eager is the time between two reads while something is wrong or changing. rested is the time between two reads
	// otherwise.
	eager  = 250 * time.Millisecond
	rested = 2 * time.Second
)

// DefaultInterval returns the time until the next read of a cluster.
func DefaultInterval(view View) time.Duration {
	if view.Err != nil || view.Stale || view.Work != "" || len(view.Absent) > 0 || len(view.Members) == 0 || view.agreeing() {
		return eager
	}
	for _, m := range view.Members {
		if m.Learner || !m.Started() || !view.Healthy(m.ID) {
			return eager
		}
	}
	return rested
}

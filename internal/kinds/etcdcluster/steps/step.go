// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps carries out changes in etcd: it changes the members, the leader or the members' data. A rule returns a
// Step in its Verdict. Before opcrew takes the step, Holds checks that the members have not changed since the decision.
// Other packages decide when a step is due.
package steps

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Step is one change in etcd.
type Step struct {
	Name string
	// About is the member that the step changes. It is nil if the step adds a member or applies to all members.
	About *model.Member
	// Reason and Note are the reason and the note of the event for the step. Without a Reason there is no event.
	Reason, Note string
	// Confirm is true if opcrew must confirm before the step that the member is lost, by live reads of its pod and
	// claim.
	Confirm bool
	// CostsVoter is true if the step costs the cluster a voter. opcrew then first checks that enough other voters
	// answer.
	CostsVoter bool
	Do         func(context.Context, etcd.Store) error
	// Begin is called instead of Do if the change may take longer than the time limit of a step. It returns work that
	// runs in the background.
	Begin func(Site) etcd.Work
}

// Site holds what the background work of a step needs from the operator.
type Site struct {
	Clock clock.Clock
	// Record updates what this process remembers about work on the cluster's data.
	Record func(change func(*History))
	// Event reports to users which work has ended. Kubernetes counts events with the same reason about the same pod as
	// one event, and keeps only the note of the first.
	Event func(about *corev1.Pod, kind, reason, note string)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps carries out changes in etcd: of the membership, the leader and the members' data. A rule returns a Step
// in its Verdict. Before the step is taken, Holds checks that the members are still the same as when it was decided on.
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
	// About is the member that is changed; nil for an addition.
	About *model.Member
	// Reason and Note are the reason and the note of the step's event; without a Reason there is no event.
	Reason, Note string
	// Confirm is true if the member's pod and claim have to be read again before the step is taken.
	Confirm bool
	// CostsVoter is true if the step takes a voter away, so that the other voters are read again first.
	CostsVoter bool
	Do         func(context.Context, etcd.Store) error
	// Begin is called instead of Do if the change may take longer than a step may.
	Begin func(Site) etcd.Work
}

// Site holds what work beside the reconcile loop needs from the operator.
type Site struct {
	Clock clock.Clock
	// Record changes the history of the cluster.
	Record func(change func(*History))
	// Event reports to users what has ended. Events with the same reason about the same pod, or about no pod, are
	// counted as one event, with the note of the first.
	Event func(about *corev1.Pod, kind, reason, note string)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps carries out changes in etcd: of the membership, of the lead and of the members' data.
//
// A rule returns a Step in its Verdict; whether the members are still those that it was decided on is checked with
// Holds before it is taken. When a step is due is decided in the packages of rules.
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
	// Reason and Note are those of the event; without a Reason there is none.
	Reason, Note string
	// Confirm has the pod and the claim of the member read again before it is done.
	Confirm bool
	// CostsVoter: it takes a voter away, so that the others are read again first.
	CostsVoter bool
	Do         func(context.Context, etcd.Store) error
	// Begin is done instead of Do if that may take longer than a step may.
	Begin func(Site) etcd.Work
}

// Site is what work that runs beside the loop needs of the operator.
type Site struct {
	Clock clock.Clock
	// Record changes the history of the cluster.
	Record func(change func(*History))
	// Event reports to users what has ended. Events of one reason about one pod, or about none, are counted as one
	// event with the note of the first.
	Event func(about *corev1.Pod, kind, reason, note string)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/workload"
)

// isPlanned reports whether the quorum is missing only because of a planned change: the members are starting after
// hibernation, or one of at most two voters is being changed.
func (a *Availability) isPlanned() bool {
	was := func(kind, reason string) bool {
		last := meta.FindStatusCondition(a.Cluster.Status.Conditions, kind)
		return last != nil && last.Reason == reason
	}
	const available = etcdv1beta2.EtcdClusterAvailable
	changed := model.Voters(a.Members) <= 2 && was(etcdv1beta2.EtcdClusterUpToDate, common.ReasonUpdating)
	if !changed && !was(available, etcdv1beta2.ReasonHibernating) && !was(available, common.ReasonUpdating) {
		return false
	}
	return !slices.ContainsFunc(a.Members, func(m model.Member) bool { return !m.Healthy && !a.isStarting(m) })
}

// isStarting reports whether a member is about to run, or has run for so short a time that it need not answer yet.
func (a *Availability) isStarting(m model.Member) bool {
	if m.Lost != "" || m.Pod == nil || m.Pod.DeletionTimestamp != nil {
		return m.Lost == ""
	}
	_, stuck := workload.WhyNotReady(m.Pod)
	since := model.RunsSince(m.Pod)
	return !stuck && (since.IsZero() || a.Now.Sub(since) < model.StartTime)
}

// Beginning reports the progress of the first members. The message changes only if the user may have to act.
func (a *Availability) Beginning() (reason, message string) {
	if a.Invalid != nil {
		return a.Invalid.Reason, a.Invalid.Message
	}
	message = fmt.Sprintf("The first %s starting", plural(len(a.Members), "member is", "members are"))
	if a.StartsOver {
		return etcdv1beta2.ReasonCreating, message + " again: one of them lost its volume before the cluster was formed"
	}
	for _, m := range a.Members {
		if m.Pod == nil {
			continue
		}
		if why, stuck := m.WhyPodNotReady(); stuck {
			return etcdv1beta2.ReasonMemberNotReady, message + "; " + m.Name + ": " + why
		}
	}
	if a.View.Err != nil && a.runFor() > model.StartTime {
		return etcdv1beta2.ReasonMemberNotReady, fmt.Sprintf("The initial %s not respond: %v", plural(len(a.Members), "member is running, but does", "members are running, but do"), a.View.Err)
	}
	return etcdv1beta2.ReasonCreating, message
}

// runFor returns how long etcd has been running in the pods of all members: the time since it started in the last of
// these pods. It returns 0 if etcd does not run in one of the pods.
func (a *Availability) runFor() time.Duration {
	var least time.Duration
	for _, m := range a.Members {
		since := model.RunsSince(m.Pod)
		if since.IsZero() {
			return 0
		}
		if ran := a.Now.Sub(since); least == 0 || ran < least {
			least = ran
		}
	}
	return least
}

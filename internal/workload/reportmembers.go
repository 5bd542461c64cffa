// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Report sets a condition that reports whether all pods run the desired template and are ready. noun is the word for
// the pods in messages, such as clients. names are the pods that the spec requests.
func (m Members) Report(set condition.Set, kind, noun string, names []string, done kit.Outcome) {
	n, wanted := m.Replicas(), int32(len(names))
	ready := m.Ready(names)
	switch {
	case m.Set == nil:
		m.reportNone(set, kind, noun, names)
	case n != wanted:
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("The number of %s is changing from %d to %d", noun, n, wanted))
	case m.Behind || Changing(done, "StatefulSet"):
		// m.Refusal is not reported here: it is about pods of the previous spec.
		set.False(kind, common.ReasonUpdating, "The StatefulSet controller has not processed the last change yet")
	case m.Refusal.Words != "":
		set.False(kind, common.ReasonPodsMissing, fmt.Sprintf("%d of %d %s cannot be created: %s", int(n)-len(m.Pods), n, noun, m.Refusal.Words))
	case ready < n:
		why, reason := m.FirstCause(names)
		set.False(kind, reason, fmt.Sprintf("%d of %d %s are ready; %s", ready, n, noun, why))
	case m.Rolling(set.Now):
		set.False(kind, common.ReasonUpdating, fmt.Sprintf("%d of %d %s run the new template", m.Set.Status.UpdatedReplicas, n, noun))
	default:
		set.True(kind, common.ReasonAllPodsReady, fmt.Sprintf("%d of %d %s are ready", ready, n, noun))
	}
}

// FirstCause returns the first pod that is not ready, with the reason. Pods that may need help come before pods that
// are starting.
func (m Members) FirstCause(names []string) (cause, reason string) {
	for _, name := range names {
		why, stuck := m.why(name)
		if stuck {
			return name + ": " + why, common.ReasonPodsNotReady
		}
		if cause == "" && why != "" {
			cause = name + ": " + why
		}
	}
	return cause, common.ReasonUpdating
}

// why returns why the pod with the given name is not ready.
func (m Members) why(name string) (why string, stuck bool) {
	if pod := m.Pods[name]; pod != nil {
		return WhyNotReady(pod)
	}
	if former := m.Former[name]; former != nil {
		why, stuck = WhyNotReady(former)
		return "the pod is created when the pod of an earlier StatefulSet is gone: " + cmp.Or(why, "the earlier pod is about to end"), stuck
	}
	return "the pod is being created", false
}

// reportNone reports why there is no StatefulSet yet. opcrew may be waiting for pods of an earlier StatefulSet.
func (m Members) reportNone(set condition.Set, kind, noun string, names []string) {
	if cause, reason := m.FirstCause(names); reason == common.ReasonPodsNotReady {
		set.False(kind, reason, "The "+noun+" are being created; "+cause)
		return
	}
	set.False(kind, common.ReasonApplying, "The "+noun+" are being created")
}

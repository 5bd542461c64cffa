// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/workload"
)

// stray returns the name of a pod that belongs to no member and will soon be gone; empty if there is none.
func (p planner) stray() string {
	for _, pod := range p.strays() {
		if !workload.Stuck(pod, p.now) {
			return pod.Name
		}
	}
	return ""
}

// strays returns the pods that belong to no member.
func (p planner) strays() []*corev1.Pod {
	d := p.d
	var out []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(p.pods)) {
		if !d.has(name) {
			out = append(out, p.pods[name])
		}
	}
	return out
}

// hanging returns pods that are stuck while being deleted, but harm nothing: pods of removed members, and pods from
// before a restore that clients can no longer use.
func (p planner) hanging() workload.Leftovers {
	c := p.c
	pods := p.strays()
	for _, pod := range p.others.Pods {
		if model.LineageOf(c, pod.Name) == model.Former && !p.lineage(c, nil).FormerServes() {
			pods = append(pods, pod)
		}
	}
	return workload.StuckOf(pods, p.now)
}

// strayClaim reports whether some claim belongs to no member and is not being deleted yet.
func (p planner) strayClaim() bool {
	d := p.d
	for name, claim := range p.claims {
		if claim.DeletionTimestamp == nil && !d.has(name) {
			return true
		}
	}
	return false
}

// waiting returns what the next change waits for, as a clause to append to a message; empty if it waits for nothing.
func (r reporter) waiting() string {
	d := r.d
	switch {
	case d.next.Waits != "":
		return "; the next change waits for " + d.next.Waits
	case d.next.Step != nil && r.refused.Words != "":
		return fmt.Sprintf("; the attempt to %s failed: %s", d.next.Step.Name, r.refused.Words)
	}
	return ""
}

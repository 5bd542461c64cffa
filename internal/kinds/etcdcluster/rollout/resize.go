// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// Resize gives the next member the resources of the spec while it runs (KEP-1287). That costs no restart, and a member
// without a claim needs no successor.
//
// The resources are recorded on the pod before they are requested, so that the next process knows them. A kubelet that is
// resizing a pod blocks the next; one that has no room does not, as its member keeps running.
func Resize(in *Input) steps.Verdict {
	if in.Invalid {
		return steps.Verdict{}
	}
	waits := ""
	for i, m := range in.Members {
		switch {
		case m.Patched && (m.ResizeDue || m.ResizeNoted):
			return steps.Verdict{Waits: waits, Halt: true} // the cache is about to show the last change
		case m.ResizeDue || m.ResizeNoted:
			return steps.Verdict{Resize: &in.Members[i], Waits: waits}
		}
		words, working := settings.PendingResize(m.Pod)
		if words != "" && (working || waits == "") {
			waits = "the node of " + m.Name + " to give it its resources: " + words
		}
		if working {
			break
		}
	}
	return steps.Verdict{Waits: waits}
}

// ResizeBroken returns a member that gets other resources because its etcd does not run, maybe for lack of memory; nil:
// none. Without a claim its pod is not recreated for that. Other changes do not wait for it.
func ResizeBroken(in *Input) *model.Member {
	for i, m := range in.Members {
		due := m.ResizeNoted || m.ResizeDue && !in.Persistent
		if due && !in.Invalid && !m.Healthy && !m.Patched && m.Lost == "" && model.Broken(m.Pod) {
			return &in.Members[i]
		}
	}
	return nil
}

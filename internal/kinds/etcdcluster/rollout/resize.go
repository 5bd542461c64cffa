// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// Resize gives the next running member the spec's resources without a restart (KEP-1287). It first records the new
// resources on the pod, so that a restarted process continues the resize. The next member must wait for a resize in
// progress, but not for a member that keeps its old resources because its node lacks room.
func Resize(in *Input) steps.Verdict {
	if in.Invalid {
		return steps.Verdict{}
	}
	waits := ""
	for i, m := range in.Members {
		switch {
		case m.Patched && (m.ResizeDue || m.ResizeNoted):
			return steps.Verdict{Waits: waits, Halt: true} // the cache does not show opcrew's last patch yet
		case m.ResizeDue || m.ResizeNoted:
			return steps.Verdict{Resize: &in.Members[i], Waits: waits}
		}
		words, working := settings.PendingResize(m.Pod)
		if words != "" && (working || waits == "") {
			waits = "the node of " + m.Name + " to resize its pod: " + words
		}
		if working {
			break
		}
	}
	return steps.Verdict{Waits: waits}
}

// ResizeBroken returns a member whose etcd does not run, perhaps for lack of memory, and whose pod can be resized; nil
// if there is none. A resize matters for members without claims, because opcrew cannot recreate their pods. Other
// changes need not wait for this resize.
func ResizeBroken(in *Input) *model.Member {
	for i, m := range in.Members {
		due := m.ResizeNoted || m.ResizeDue && !in.Persistent
		if due && !in.Invalid && !m.Healthy && !m.Patched && m.Lost == "" && model.Broken(m.Pod) {
			return &in.Members[i]
		}
	}
	return nil
}

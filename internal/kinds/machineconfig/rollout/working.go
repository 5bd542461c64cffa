// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// silence is how long a machine agent may take to begin its order.
const silence = 10 * time.Minute

// working waits for the machine agent. It names a node that does not come back, and an agent that does not begin:
// neither may change by itself.
func working(in *Input) Verdict {
	n := in.Node
	begun := n.Phase == Working
	switch {
	case !begun && (n.Phase != Ordered || n.Desired != in.goal()):
		return Verdict{}
	case in.isLost():
		return wait(mcfgv1.ReasonNodeNotReady, "it changes to %s, and has not been ready for %s: repair its kubelet, or remove the node", n.Desired, age(in.Now.Sub(in.lostSince())))
	case begun:
		return wait(mcfgv1.ReasonUpdating, "its machine agent applies %s", n.Desired)
	case in.isSilent():
		return wait(mcfgv1.ReasonAgentSilent, "its machine agent has not begun to apply %s for %s: check opcrew-machine.service on the host, and the pods in namespace opcrew-machines",
			n.Desired, age(in.Now.Sub(n.Ordered)))
	}
	return wait(mcfgv1.ReasonUpdating, "its machine agent has not begun to apply %s", n.Desired)
}

// isLost reports whether a node has not been ready for as long as an updated node may take to become healthy.
func (in *Input) isLost() bool {
	return !in.Node.Ready && !in.Now.Before(in.lostSince().Add(in.Pool.Rollout.Timeout))
}

// lostSince returns since when a node has not been ready. Before its order, the node may have been down for another
// reason, which the order can cure.
func (in *Input) lostSince() time.Time { return later(in.Node.ReadySince, in.Node.Ordered) }

func (in *Input) isSilent() bool {
	return !in.Node.Ordered.IsZero() && !in.Now.Before(in.Node.Ordered.Add(silence))
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"time"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

// paused begins nothing in a paused pool.
func paused(in *Input) Verdict {
	if in.Pool.Paused {
		return wait(mcfgv1.ReasonPaused, "pool %s is paused: %s to update the node", in.Pool.Name, in.Pool.Resume)
	}
	return Verdict{}
}

// activity does not begin on a node on which an Activity of a fleet or a NodePool works.
func activity(in *Input) Verdict {
	if in.Node.Activity != "" {
		return wait(mcfgv1.ReasonActivity, "Activity %s works on it: the update follows when the Activity has ended and its node is schedulable", in.Node.Activity)
	}
	return Verdict{}
}

// cordoned does not begin on a node that others cordoned, because they may be working on it.
func cordoned(in *Input) Verdict {
	if in.Node.Cordon == Foreign {
		return wait(mcfgv1.ReasonCordoned, "a user or another tool cordoned it: uncordon it to let opcrew update it")
	}
	return Verdict{}
}

func notReady(in *Input) Verdict {
	if !in.Node.Ready {
		return wait(mcfgv1.ReasonNodeNotReady, "it is not ready: repair its kubelet, or remove the node")
	}
	return Verdict{}
}

func kured(in *Input) Verdict {
	if in.isLocked(in.Node) {
		return wait(mcfgv1.ReasonOtherReboot, "kured holds its lock for this node: it follows when kured has rebooted it; if kured is gone, remove the lock")
	}
	return Verdict{}
}

// isLocked reports whether kured reboots a node, or is about to.
func (c *Cluster) isLocked(n *Node) bool { return slices.Contains(c.Kured, n.Name) }

// occupied returns why a node counts as unavailable; empty if it does not. A node that is being updated counts from its
// order until it has soaked, even while its pods run.
func (c *Cluster) occupied(n *Node) string {
	switch {
	case n.Phase == Failed || n.Phase == Refused:
		return "failed"
	case n.changing() || n.Unseen:
		return "being updated"
	case n.Activity != "":
		return "used by Activity " + n.Activity
	case n.Cordon == Foreign:
		return "cordoned by others"
	case n.Cordon == Ours:
		return "cordoned"
	case !n.Ready:
		return "not ready"
	case c.missedGate(n):
		return "not healthy after its update"
	case c.isLocked(n):
		return "locked by kured"
	case c.soaking(n):
		return "just updated"
	}
	return ""
}

// soaking reports whether an updated node has not been healthy for long enough.
func (c *Cluster) soaking(n *Node) bool {
	p := n.pool
	if p == nil || n.Joining || n.Current != p.goal() || n.Health.Applied.IsZero() {
		return false
	}
	if !n.Health.Met {
		return n.Health.Since.Before(n.Health.Applied.Add(p.Rollout.Timeout))
	}
	return c.Now.Before(later(n.Health.Since, n.Health.Applied).Add(c.soak(n)))
}

// soak returns how long a node must be healthy after its update.
func (c *Cluster) soak(n *Node) time.Duration {
	p := n.pool
	if p.Rollout.Canary && n.Canary {
		return p.Rollout.CanarySoak
	}
	return p.Rollout.Soak
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// age formats a duration without needless digits.
func age(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

const held = nodesv1.ReasonRemediationHeld

func poolIsPaused(in *Input) *Verdict {
	if in.Pool.Frozen {
		return in.held(held, "an annotation of the pool holds back changes; remove it to fence the machine")
	}
	return nil
}

func nodeIsPaused(in *Input) *Verdict {
	if common.IsSet(in.Node.Annotations, common.PausedAnnotation) {
		return in.held(held, "the node has the annotation "+common.PausedAnnotation+"; remove it to fence the machine")
	}
	return nil
}

// bootIsUnknown: without a boot ID opcrew could not notice that the machine was restarted.
func bootIsUnknown(in *Input) *Verdict {
	if in.Node.Status.NodeInfo.BootID == "" {
		return in.held(held, "the node has never reported a boot ID, so opcrew could not notice that the machine was restarted")
	}
	return nil
}

func othersCareForIt(in *Input) *Verdict {
	if outByOther(in.Node) {
		return in.held(held, "another owner has set the taint "+corev1.TaintNodeOutOfService+", so opcrew leaves the machine to that owner")
	}
	return nil
}

func notAllowed(in *Input) *Verdict {
	if in.Obstacle != nil {
		return in.held(in.Obstacle.Reason, in.Obstacle.Message)
	}
	return nil
}

// mostNodesAreDown: then the network of the control plane is the more likely cause.
func mostNodesAreDown(in *Input) *Verdict {
	down := 0
	for _, n := range in.Cluster.Nodes {
		if !isReady(n) {
			down++
		}
	}
	if 2*down < len(in.Cluster.Nodes) {
		return nil
	}
	return in.held(held, fmt.Sprintf("%d of the %d nodes of the cluster are not Ready, so the network or the control plane is the likely cause; opcrew fences a machine only while most nodes are Ready",
		down, len(in.Cluster.Nodes)))
}

// leasesAreStale: the conditions of nodes can be old, but kubelets renew their leases themselves.
func leasesAreStale(in *Input) *Verdict {
	fresh := 0
	for _, n := range in.Cluster.Nodes {
		if in.fresh(n.Name) {
			fresh++
		}
	}
	if 2*fresh > len(in.Cluster.Nodes) {
		return nil
	}
	return in.held(held, fmt.Sprintf("only %d of the %d nodes of the cluster have renewed their leases in the last %.0f seconds, so opcrew or the API server does not hear from nodes; opcrew fences a machine only while most kubelets report",
		fresh, len(in.Cluster.Nodes), leaseAge.Seconds()))
}

// fresh reports whether the kubelet of a node has renewed its lease lately. A lease from the future is not fresh,
// because then a clock is wrong.
func (in *Input) fresh(node string) bool {
	age := in.Now.Sub(in.Cluster.Renewed[node])
	return age < leaseAge && age > -leaseAge
}

// kubeletIsAlive: the node is not Ready, but its kubelet renews its lease. Then the machine runs, whatever a command says.
func kubeletIsAlive(in *Input) *Verdict {
	if in.fresh(in.Node.Name) {
		status, _ := Ready(in.Node)
		return in.held(held, fmt.Sprintf("the condition Ready of the node is %s, but its kubelet renews its lease, so the machine is not dead", status))
	}
	return nil
}

// nodeIsYoung also decides before anything about the cluster is known.
func nodeIsYoung(in *Input) *Verdict {
	_, since := Ready(in.Node)
	if left := since.Add(after(in.Pool.Spec)).Sub(in.Now); left > 0 {
		return in.waits("the node is not Ready; opcrew fences its machine if this lasts "+after(in.Pool.Spec).String(), left)
	}
	return nil
}

func attemptPauses(in *Input) *Verdict {
	if in.Record == nil || in.Record.AttemptFailedAt == nil {
		return nil
	}
	if left := in.Record.AttemptFailedAt.Add(pause(in.Pool.Spec)).Sub(in.Now); left > 0 {
		return in.waits(in.Record.Message, left)
	}
	return nil
}

// rolloutWorks: a MachineConfig rollout restarts machines itself.
func rolloutWorks(in *Input) *Verdict {
	for _, n := range append([]*corev1.Node{in.Node}, in.Pool.Members...) {
		desired := n.Annotations[mcfgv1.DesiredConfigAnnotation]
		if desired != "" && (desired != n.Annotations[mcfgv1.CurrentConfigAnnotation] || n.Annotations[mcfgv1.StateAnnotation] == string(mcfgv1.StateWorking)) {
			return in.held(held, "a rollout of MachineConfig works on node "+n.Name+"; opcrew fences no machine of the pool until the rollout has ended")
		}
	}
	return nil
}

func isControlPlane(node *corev1.Node) bool {
	for _, role := range []string{"control-plane", "master"} {
		if _, ok := node.Labels[nodesv1.RolePrefix+role]; ok {
			return true
		}
	}
	return false
}

// controlPlaneIsBusy: a second control plane node that is off can cost the quorum of etcd.
func controlPlaneIsBusy(in *Input) *Verdict {
	if !isControlPlane(in.Node) {
		return nil
	}
	for _, n := range in.Cluster.Nodes {
		_, fenced := markOf(n)
		if n.Name != in.Node.Name && isControlPlane(n) && (!isReady(n) || fenced || n.Spec.Unschedulable) {
			return in.held(held, "another control plane node, "+n.Name+", is not Ready, fenced or cordoned; opcrew fences one control plane machine at a time")
		}
	}
	return nil
}

func tooFewAreHealthy(in *Input) *Verdict {
	healthy, all := 0, len(in.Pool.Members)
	for _, n := range in.Pool.Members {
		if isReady(n) {
			healthy++
		}
	}
	if need := minHealthy(in.Pool.Spec, all); healthy < need {
		return in.held(held, fmt.Sprintf("%d of the %d nodes of the pool are Ready, and spec.remediation.minHealthy requires %d; repair a node, or lower minHealthy", healthy, all, need))
	}
	return nil
}

// fencingLies: the same commands must not be trusted for a second machine.
func fencingLies(in *Input) *Verdict {
	for _, n := range in.Pool.Members {
		if mark, _ := markOf(n); strings.HasPrefix(mark, answered) && n.Name != in.Node.Name {
			return in.held(held, "the machine of node "+n.Name+" answered although it was reported as off; check fence and powerStatus, then restart that machine or remove its taint "+nodesv1.FencedTaint)
		}
	}
	return nil
}

// nodeFencesAnother: the command that runs on the node may be about to end. A command that hangs does not count.
func nodeFencesAnother(in *Input) *Verdict {
	for name, a := range in.Runs {
		if a.Spec.Host == in.Node.Name && !over(a) && in.timeLeft(a) > 0 {
			return in.held(held, "Activity "+name+" runs on the node for another machine; opcrew waits until it has ended")
		}
	}
	return nil
}

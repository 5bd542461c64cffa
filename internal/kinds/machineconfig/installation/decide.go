// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	// mostPods is how many pods may exist at the same time. An upgrade of opcrew replaces the agents of all nodes,
	// and a new CA of the API server their credentials.
	mostPods = 20
	// queueWait is the time between two checks whether a pod may be created.
	queueWait = 5 * time.Second
)

// task is what a pod does; "" for no pod.
type task string

const (
	install   task = "install"
	uninstall task = "uninstall"
)

// facts are what the decision is based on.
type facts struct {
	pools []*mcfgv1.MachineConfigPool
	// pods are the pods of all nodes in the namespace of machine agents.
	pods []*corev1.Pod
	origin
}

// origin is what an agent is installed from. Another one leads to another installation.
type origin struct {
	// image is the image with the machine agent.
	image string
	// ca is the fingerprint of the CA of the API server; empty if the operator uses none of its own.
	ca string
	// pinned is set if the pod must have this CA.
	pinned bool
}

// mark returns the value of nodepatch.AgentAnnotation for an agent that was installed on the host of a node.
func (o origin) mark(node *corev1.Node) string { return nodepatch.Agent(node, o.image, o.ca) }

// decision is what to do for a node.
type decision struct {
	// task is what the pod of the node does.
	task task
	// agent is the value of nodepatch.AgentAnnotation, if it has to change.
	agent string
	// removed is set if the agent has been removed from the host.
	removed bool
	again   time.Duration
}

func decide(node *corev1.Node, f facts) decision {
	next := taskOf(node, f)
	if next == "" || node.DeletionTimestamp != nil {
		return decision{}
	}
	if next == uninstall && node.Annotations[nodepatch.AgentAnnotation] != nodepatch.Removing {
		return decision{agent: nodepatch.Removing} // so a node that joins a pool meanwhile gets an agent again
	}
	pod := find(f.pods, podName(node, next, f.origin))
	switch {
	case pod == nil && (len(f.pods) >= mostPods || !isReady(node)):
		return decision{again: queueWait}
	case pod == nil || pod.Status.Phase != corev1.PodSucceeded:
		return decision{task: next}
	case next == install:
		return decision{task: next, agent: f.mark(node)}
	}
	return decision{task: next, removed: true}
}

// taskOf returns what has to be done on the host. A paused pool begins nothing on its hosts.
func taskOf(node *corev1.Node, f facts) task {
	all := fleet.Fleet{Pools: f.pools}
	pools, installed := all.PoolsOf(node), node.Annotations[nodepatch.AgentAnnotation]
	switch {
	case installed == f.mark(node) && (len(pools) > 0 || isConfigured(node)):
		return ""
	case len(pools) > 0 && isPaused(&all, node):
		return ""
	case len(pools) > 0 || isConfigured(node):
		return install
	case installed != "":
		return uninstall
	}
	return ""
}

// isConfigured reports whether the host has a configuration that declares something, or is changing. A node that leaves
// its pool keeps its configuration, and so its agent.
func isConfigured(node *corev1.Node) bool {
	for _, name := range []string{machineorder.CurrentConfig, machineorder.DesiredConfig} {
		if config := node.Annotations[name]; config != "" && config != machineorder.None && !render.IsEmpty(config) {
			return true
		}
	}
	return fleet.Phase(node) != rollout.Idle
}

func isPaused(all *fleet.Fleet, node *corev1.Node) bool {
	pool := all.Pool(all.Primary(node))
	return pool == nil || rollout.IsPaused(pool)
}

func isReady(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func find(pods []*corev1.Pod, name string) *corev1.Pod {
	for _, pod := range pods {
		if pod.Name == name {
			return pod
		}
	}
	return nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/fleet"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// onHosts makes an Activity run on several nodes.
func onHosts(hosts *egov1.Hosts) chore {
	return func(a *egov1.Activity) { a.Spec.Host, a.Spec.Hosts = "", hosts }
}

func nodesOf(n int) *egov1.Hosts {
	return &egov1.Hosts{Names: []egov1.HostName{"node1", "node2", "node3"}[:n]}
}

// The command leaves a file with the times of its begin and end on each node, so that the test sees on the hosts
// themselves that it ran once there, and never on two of them at the same time.
func TestAFleetRunsOnceOnEveryRealHostOneAfterAnother(t *testing.T) {
	c := newChores(t)
	log := "/var/tmp/fleet-" + c.ns + "-" // nodes may share their file system, so the name of the node follows
	c.run(t, "upgrade", "date +%s%N >> "+log+"$(hostname); sleep 2; date +%s%N >> "+log+"$(hostname); echo upgraded", onHosts(nodesOf(3)))
	a := c.await(t, "upgrade", egov1.StateSucceeded)
	end := ""
	for _, node := range []string{"node1", "node2", "node3"} {
		times := strings.Fields(c.onNode(t, node, "cat", log+node))
		c.onNode(t, node, "rm", log+node)
		if len(times) != 2 {
			t.Fatalf("expected one run on %s, got the times %v", node, times)
		}
		if times[0] < end {
			t.Errorf("expected the run on %s after the end of the previous one at %s, it began at %s", node, end, times[0])
		}
		end = times[1]
	}
	if g := a.Status.Fleet.Groups; len(g) != 1 || g[0].Count != 3 || strings.TrimSpace(g[0].Output) != "upgraded" {
		t.Errorf("expected one group of three hosts, got %+v", g)
	}
	t.Log(c.kubectl(t, "get", "activities", "-n", c.ns))
	t.Log(c.kubectl(t, "get", "activity", "upgrade", "-n", c.ns, "-o", "yaml"))
}

func TestAFleetOfRealHostsStopsAtAFailureAndContinues(t *testing.T) {
	c := newChores(t)
	flag := "/var/tmp/repaired-" + c.ns
	c.run(t, "upgrade", "if [ $(hostname) = node2 ] && [ ! -e "+flag+" ]; then echo disk full; exit 28; fi; echo upgraded", onHosts(nodesOf(3)))
	a := c.await(t, "upgrade", egov1.StateFailed)
	if !strings.Contains(says(a), "more than maxFailures (0) allows") || a.Status.Fleet.NotStarted != 1 {
		t.Errorf("expected the fleet to stop before node3, got %q and %+v", says(a), a.Status.Fleet)
	}
	c.onNode(t, "node2", "touch", flag)
	c.kubectl(t, "patch", "activity", "upgrade", "-n", c.ns, "--type=merge", "-p", `{"spec":{"run":2}}`)
	if a = c.await(t, "upgrade", egov1.StateSucceeded); a.Status.Fleet.Succeeded != 3 {
		t.Errorf("expected success on three hosts, got %+v", a.Status.Fleet)
	}
	c.onNode(t, "node2", "rm", flag)
}

func TestAFleetOfRealHostsSurvivesRestartsOfTheOperator(t *testing.T) {
	c := newChores(t)
	log := "/var/tmp/fleet-" + c.ns + "-"
	most := intstr.FromInt32(2)
	hosts := nodesOf(3)
	hosts.MaxUnavailable = &most
	c.run(t, "upgrade", "echo ran >> "+log+"$(hostname); sleep 15", onHosts(hosts))
	for range 3 {
		pod := c.acting(t)
		c.killAtOnce(t, pod)
		c.awaitRestart(t, pod)
	}
	c.waitOperator(t, "machines")
	c.await(t, "upgrade", egov1.StateSucceeded)
	for _, node := range []string{"node1", "node2", "node3"} {
		if ran := c.onNode(t, node, "cat", log+node); strings.TrimSpace(ran) != "ran" {
			t.Errorf("expected one run on %s, got %q", node, ran)
		}
		c.onNode(t, node, "rm", log+node)
	}
	child := c.get(t, fleet.ChildName("upgrade", 1, "node1"))
	c.kubectl(t, "delete", "activity", "upgrade", "-n", c.ns, "--timeout=120s")
	if left := c.kubectl(t, "get", "pods", "-n", "opcrew-activities", "-l", "opcrew.io/owner="+string(child.UID), "-o", "name"); left != "" {
		t.Errorf("expected no pod to be left, got %s", left)
	}
}

// awaitRestart waits until a killed container runs again. For some seconds its pod still shows the killed process.
func (c *chores) awaitRestart(t *testing.T, killed *corev1.Pod) {
	t.Helper()
	eventually.True(t, 2*time.Minute, killed.Name+" restarts", func() error {
		pod := &corev1.Pod{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(killed), pod); err != nil {
			return err
		}
		if s := pod.Status.ContainerStatuses[0]; s.RestartCount == killed.Status.ContainerStatuses[0].RestartCount || s.State.Running == nil {
			return fmt.Errorf("it has restarted %d times", s.RestartCount)
		}
		return nil
	})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// acting returns the leader pod of the machines layer, which is the operator's Deployment for nodes and Activities. It
// waits until this pod runs, because a killed leader still holds the lease until the lease expires.
func (c *chores) acting(t *testing.T) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	eventually.True(t, time.Minute, "the leader of the machines layer runs", func() error {
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: c.leader(t, "machines")}, pod); err != nil {
			return err
		}
		if s := pod.Status.ContainerStatuses; len(s) == 0 || s[0].State.Running == nil || pod.DeletionTimestamp != nil {
			return fmt.Errorf("%s does not run", pod.Name)
		}
		return nil
	})
	return pod
}

// killAtOnce kills the processes of a pod with SIGKILL on the pod's node, which is faster than deleting the pod.
func (c *chores) killAtOnce(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	c.onNode(t, pod.Spec.NodeName, "sh", "-c",
		"for pid in $(pgrep -x opcrew); do if grep -q "+string(pod.UID)+" /proc/$pid/cgroup; then kill -KILL $pid && killed=$pid; fi; done; [ -n \"$killed\" ]")
}

// awaitPod waits until the pod of the Activity's run exists.
func (y tally) awaitPod(t *testing.T) {
	t.Helper()
	uid := string(y.get(t, y.name).UID)
	eventually.True(t, time.Minute, y.name+" has a pod", func() error {
		pods := &corev1.PodList{}
		if err := y.List(t.Context(), pods, client.InNamespace("opcrew-activities"), client.MatchingLabels{common.OwnerLabel: uid}); err != nil || len(pods.Items) > 0 {
			return err
		}
		return fmt.Errorf("the run has no pod")
	})
}

func TestACommandRunsOnceAtWhateverMomentTheOperatorIsKilled(t *testing.T) {
	c := newChores(t)
	for _, moment := range []struct {
		name  string
		reach func(y tally, kill func())
	}{
		{"before-it-is-made", func(y tally, kill func()) { kill(); y.begin(t); y.release(t) }},
		{"just-made", func(y tally, kill func()) { y.begin(t); kill(); y.release(t) }},
		{"written-down", func(y tally, kill func()) { y.begin(t); y.awaitRun(t); kill(); y.release(t) }},
		{"has-a-pod", func(y tally, kill func()) { y.begin(t); y.awaitPod(t); kill(); y.release(t) }},
		{"begun", func(y tally, kill func()) { y.begin(t); y.awaitCounted(t, "begun"); kill(); y.release(t) }},
		{"reported", func(y tally, kill func()) { y.begin(t); y.awaitWords(t, y.name, "is running on"); kill(); y.release(t) }},
		{"ended", func(y tally, kill func()) { y.begin(t); y.release(t); y.awaitCounted(t, "ended"); kill() }},
	} {
		t.Run(moment.name, func(t *testing.T) {
			y, pod := c.tally(t, "node1", moment.name), c.acting(t)
			moment.reach(y, func() { c.killAtOnce(t, pod) })
			y.wantOnce(t)
		})
	}
	c.waitOperator(t, "machines")
}

// awaitRun waits until the Activity's status records the run.
func (y tally) awaitRun(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, "the run of "+y.name+" is written down", func() error {
		if a := y.get(t, y.name); a.Status.Run == 0 {
			return fmt.Errorf("the status is %+v", a.Status)
		}
		return nil
	})
}

// After a pod of the operator is deleted, the pod may still be stopping while its replacement already starts. The
// command of an Activity that is created in the meantime must run exactly once.
func TestCommandsRunOnceWhilePodsOfTheOperatorAreDeleted(t *testing.T) {
	c := newChores(t)
	var tallies []tally
	for i := range 8 {
		y := c.tallied(t, "node1", fmt.Sprint("chore-", i))
		y.release(t)
		tallies = append(tallies, y)
		if i%3 == 0 {
			c.kill(t, c.acting(t).Name)
		}
	}
	for _, y := range tallies {
		y.wantOnce(t)
	}
	c.waitOperator(t, "machines")
}

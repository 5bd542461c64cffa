// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
)

func TestWhatFollowsFromWhatIsKnown(t *testing.T) {
	const running, verifying = etcdv1beta2.RunRunning, etcdv1beta2.RunVerifying
	run, proof := backuptest.New(backuptest.InRun(running, 0)), backuptest.New(backuptest.InRun(verifying, 0), backuptest.HasSaved)
	for name, c := range map[string]struct {
		backup *etcdv1beta2.EtcdBackup
		pods   []corev1.Pod
		want   string
	}{
		"a run is written down before it is begun":  {backuptest.New(), nil, "nothing"},
		"then it is begun":                          {run, nil, "save 1"},
		"it is at work":                             {run, pods(podOf(run, save, 1)), "nothing, again in 5m51s + 1m0s"},
		"it succeeded":                              {run, pods(podOf(run, save, 1, reporting(0, good))), "nothing"},
		"an attempt has just failed":                {run, pods(podOf(run, save, 1, reporting(4*time.Second, away))), "nothing, again in 6s"},
		"and its pause is over":                     {run, pods(podOf(run, save, 1, reporting(10*time.Second, away))), "save 2"},
		"the second failed, too":                    {run, pods(podOf(run, save, 1, reporting(time.Minute, away)), podOf(run, save, 2, reporting(10*time.Second, away))), "nothing, again in 20s"},
		"the last attempt failed":                   {run, pods(podOf(run, save, 3, reporting(time.Hour, away))), "nothing"},
		"what it is to do makes no sense":           {run, pods(podOf(run, save, 1, reporting(time.Hour, wild))), "nothing"},
		"it ended without a result":                 {run, pods(podOf(run, save, 1, withoutResult("Evicted"))), "save 2"},
		"it was not taken, and never began":         {run, pods(podOf(run, save, 1, withoutResult("OutOfcpu"), unbegun)), "save 2"},
		"its kubelet is silent":                     {run, pods(podOf(run, save, 1, unheard)), "save 2"},
		"it runs beyond a time that was lowered":    {backuptest.New(backuptest.InRun(running, 0), hurried), pods(podOf(run, save, 1)), "nothing, again in 5m51s + 1m0s"},
		"another container of it goes on":           {run, pods(podOf(run, save, 1, reporting(0, good), withSidecar)), "nothing"},
		"its labels were changed by hand":           {run, pods(podOf(run, save, 1, relabelled)), "nothing, again in 5m51s + 1m0s"},
		"the object is another by now":              {run, nil, "behind"},
		"pods of an earlier run are none of this":   {run, pods(podOf(backuptest.New(backuptest.InRun(running, -time.Hour)), save, 3, reporting(0, away))), "save 1"},
		"it is restored to see that it can be":      {proof, pods(podOf(proof, save, 1, reporting(time.Minute, good))), "verify 1"},
		"it is suspended":                           {backuptest.New(backuptest.Every(3600), backuptest.Suspended), nil, "nothing"},
		"it is suspended while a run is made":       {backuptest.New(backuptest.Every(3600), backuptest.Suspended, backuptest.InRun(running, 0)), nil, "save 1"},
		"the next is due in an hour":                {backuptest.New(backuptest.Every(3600), backuptest.InRun(etcdv1beta2.RunSucceeded, 0)), nil, "nothing, again in 1h0m0s"},
		"the next is due before the pause is over":  {backuptest.New(backuptest.Every(10), backuptest.InRun(running, 0)), pods(podOf(run, save, 2, reporting(time.Second, away))), "nothing, again in 10s"},
		"the schedule makes no sense":               {backuptest.New(backuptest.Cron("never", "")), nil, "nothing"},
		"the CoreOS operator's finalizer is let go": {backuptest.New(leaving), nil, "release backup-operator-periodic"},
	} {
		plan := planAt(c.backup, facts{now: backuptest.Noon, pods: c.pods, behind: c.want == "behind"}, backuptest.Noon)
		got := "nothing"
		for _, child := range plan.Children {
			pod := child.Object.(*corev1ac.PodApplyConfiguration)
			got = pod.Labels[taskLabel] + " " + pod.Labels[attemptLabel]
		}
		if plan.Release != "" {
			got = "release " + plan.Release
		}
		if plan.Again > 0 && plan.Children == nil {
			got += ", again in " + wait(plan.Again)
		}
		if c.want == "behind" {
			c.want = "nothing, again in 15s"
		}
		if got != c.want {
			t.Errorf("%s: expected %q, got %q", name, c.want, got)
		}
	}
}

// wait formats a duration. If the duration looks like the wait for a pod's deadline, wait writes it as two summands:
// the pod's own time limit, and the extra time silence, for which opcrew waits for a report.
func wait(d time.Duration) string {
	if d > slack && d < time.Hour {
		return fmt.Sprintf("%s + %s", d-silence, silence)
	}
	return d.String()
}

// unbegun removes the pod's start time, as if no kubelet had started the pod.
func unbegun(pod *corev1.Pod) { pod.Status.StartTime = nil }

// withSidecar adds a running container to the pod's status, like a sidecar of a service mesh that never ends.
func withSidecar(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	mesh := corev1.ContainerStatus{Name: "mesh", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	pod.Status.ContainerStatuses = append([]corev1.ContainerStatus{mesh}, pod.Status.ContainerStatuses...)
}

func relabelled(pod *corev1.Pod) {
	pod.Labels = map[string]string{taskLabel: "verify", dueLabel: "x", attemptLabel: "3"}
}

// hurried limits each attempt to one second.
func hurried(b *etcdv1beta2.EtcdBackup) {
	b.Spec.BackupPolicy = &etcdv1beta2.BackupPolicy{TimeoutInSecond: 1}
}

func pods(all ...corev1.Pod) []corev1.Pod { return all }

func leaving(b *etcdv1beta2.EtcdBackup) {
	b.DeletionTimestamp, b.Finalizers = &metav1.Time{Time: backuptest.Noon}, []string{etcdv1beta2.PeriodicFinalizer, "others.io/hold"}
}

func TestAnObstacleKeepsAPodFromBeingMade(t *testing.T) {
	b := backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, 0))
	f := facts{now: backuptest.Noon, obstacle: &obstacle{etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws"}}
	if plan := planAt(b, f, backuptest.Noon); len(plan.Children) > 0 || plan.Again != obstacleInterval {
		t.Errorf("expected no pod, and another look soon, got %+v", plan)
	}
	if got := conditionOf(reported(t, b, f), "Ready"); got != "False SecretMissing: s3.awsSecret: there is no Secret aws" {
		t.Errorf("expected Ready to name it, got %s", got)
	}
}

func TestPodsOfTheLastRunStayAndThoseOfEarlierOnesGo(t *testing.T) {
	b := backuptest.New(backuptest.Every(3600), backuptest.InRun(etcdv1beta2.RunSucceeded, time.Hour))
	stays := planAt(b, facts{now: backuptest.Noon.Add(2 * time.Hour)}, backuptest.Noon).Stays
	for name, c := range map[string]struct {
		pod  corev1.Pod
		want bool
	}{
		"of the last run":                         {podOf(b, save, 1), true},
		"of the last run, whose labels were lost": {podOf(b, verify, 3, relabelled), true},
		"of a later run, in an old view":          {podOf(backuptest.New(backuptest.InRun("", 2*time.Hour)), save, 1), true},
		"of an earlier run":                       {podOf(backuptest.New(backuptest.InRun("", 0)), save, 1), false},
	} {
		if got := stays(&c.pod); got != c.want {
			t.Errorf("a pod %s: expected that it stays: %t, got %t", name, c.want, got)
		}
	}
}

func TestTwoOperatorsNameTheSamePodAndNoOther(t *testing.T) {
	b, seen := backuptest.New(), map[string]work{}
	for _, w := range []work{{save, backuptest.Noon, 1}, {save, backuptest.Noon, 2}, {verify, backuptest.Noon, 1}, {save, backuptest.Noon.Add(time.Second), 1}} {
		name := w.podName(b)
		if other, taken := seen[name]; taken || name != w.podName(backuptest.New()) {
			t.Errorf("expected %+v to have a name of its own that is always the same, got %s, as %+v has", w, name, other)
		}
		seen[name] = w
	}
}

func TestAPodsNameIsOneThatPodsCanHave(t *testing.T) {
	b := backuptest.New()
	for _, name := range []string{"a", strings.Repeat("a", 199) + ".b", strings.Repeat("a", 198) + "-.b", strings.Repeat("a", 253)} {
		b.Name = name
		if got := (work{save, backuptest.Noon, 1}).podName(b); len(validation.IsDNS1123Subdomain(got)) > 0 {
			t.Errorf("expected the name of a pod, got %s", got)
		}
	}
}

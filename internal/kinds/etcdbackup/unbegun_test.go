// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
)

// bound makes a pod that is scheduled to a node whose kubelet has never reported the pod. The given duration is the age
// of the pod at noon.
func bound(before time.Duration) podOption {
	return func(pod *corev1.Pod) {
		pod.CreationTimestamp = metav1.NewTime(backuptest.Noon.Add(-before))
		pod.Spec.NodeName = "dead"
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}}
	}
}

// unplaced makes a pod that the scheduler cannot place. The given duration is the age of the pod at noon.
func unplaced(before time.Duration) podOption {
	return func(pod *corev1.Pod) {
		bound(before)(pod)
		pod.Spec.NodeName = ""
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}
	}
}

// evicted sets the deletion time of a pod to the given duration before noon. The pod still exists, because its kubelet
// does not react.
func evicted(before time.Duration) podOption {
	return func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: backuptest.Noon.Add(-before)} }
}

func hourly(b *etcdv1beta2.EtcdBackup) {
	backuptest.Cron("0 * * * *", "")(b)
	b.CreationTimestamp = metav1.NewTime(backuptest.Noon.Add(-1000 * time.Hour))
}

func TestARunWhosePodNeverBeginsDoesNotHoldUpTheNext(t *testing.T) {
	const running, verifying = etcdv1beta2.RunRunning, etcdv1beta2.RunVerifying
	save1, proof := backuptest.New(hourly, backuptest.HasSaved, backuptest.InRun(running, -2*time.Hour)), backuptest.New(hourly, backuptest.HasSaved, backuptest.Verified(1), backuptest.InRun(verifying, -2*time.Hour))
	fresh := backuptest.New(hourly, backuptest.HasSaved, backuptest.InRun(running, 0))
	provenNow := backuptest.New(hourly, backuptest.HasSaved, backuptest.Verified(1), backuptest.InRun(verifying, 0))
	for name, c := range map[string]struct {
		backup      *etcdv1beta2.EtcdBackup
		pod         corev1.Pod
		next, ready string
	}{
		"its node died":                          {save1, podOf(save1, save, 1, bound(time.Hour)), "save 2", "False Retrying: attempt 1 of 3 failed: pod "},
		"and it was evicted":                     {save1, podOf(save1, save, 1, bound(3*time.Minute), evicted(2*time.Minute)), "save 2", "False Retrying: attempt 1 of 3 failed: pod "},
		"it was only just evicted":               {fresh, podOf(fresh, save, 1, bound(time.Minute), evicted(time.Second)), "waits", "True Saved: "},
		"no node takes it":                       {save1, podOf(save1, save, 1, unplaced(time.Hour)), "save 2", "False Retrying: attempt 1 of 3 failed: pod "},
		"it is given time":                       {fresh, podOf(fresh, save, 1, bound(time.Minute)), "waits", "True Saved: "},
		"but not beyond the time of the next":    {save1, podOf(save1, save, 1, bound(time.Minute)), "waits", "False Retrying: pod "},
		"the last attempt":                       {save1, podOf(save1, save, 3, bound(time.Hour)), "failed", "False PodNotBegun: pod "},
		"it runs for long":                       {save1, podOf(save1, save, 1), "waits", "True Saved: "},
		"a proof that no node takes":             {provenNow, podOf(provenNow, verify, 1, unplaced(5*time.Minute)), "waits", "False Retrying: "},
		"a proof, when the next backup is due":   {proof, podOf(proof, verify, 1, unplaced(5*time.Minute)), "succeeded", "False PodNotBegun: Backup " + backuptest.SevenMade},
		"a proof that was made a moment ago":     {proof, podOf(proof, verify, 1, bound(time.Second)), "waits", "False Retrying: "},
		"a proof that runs when the next is due": {proof, podOf(proof, verify, 1), "waits", "False Running: "},
	} {
		f := facts{now: backuptest.Noon, pods: pods(c.pod)}
		out := reported(t, c.backup, f)
		got := "waits"
		switch v := judge(c.backup, f.attempts()); {
		case v.make != nil:
			got = v.make.labels()[taskLabel] + " " + v.make.labels()[attemptLabel]
		case out.Status.Run.Phase != c.backup.Status.Run.Phase:
			got = strings.ToLower(out.Status.Run.Phase)
		}
		if ready := conditionOf(out, "Ready"); got != c.next || !strings.HasPrefix(ready, c.ready) {
			t.Errorf("%s: expected %q, and Ready %s; got %q, %s", name, c.next, c.ready, got, ready)
		}
	}
}

func TestTheNextBackupWaitsForAProofToBeginForAMinuteAtMost(t *testing.T) {
	b := backuptest.New(hourly, backuptest.HasSaved, backuptest.Verified(1), backuptest.InRun(etcdv1beta2.RunVerifying, -2*time.Hour))
	v := judge(b, attempts{now: backuptest.Noon, pods: pods(podOf(b, verify, 1, bound(20*time.Second)))})
	if v.proven != nil || v.again > 41*time.Second {
		t.Errorf("expected another look in 41 s, got %+v", v)
	}
}

// opcrew has stopped waiting for a pod that has not started, but the kubelet may still start this pod. opcrew must
// delete the pod once the pod of the next attempt exists.
func TestAPodThatWasGivenUpBeforeItBeganGoesWhenItHasASuccessor(t *testing.T) {
	b := backuptest.New(hourly, backuptest.InRun(etcdv1beta2.RunRunning, 0))
	first, second := podOf(b, save, 1, bound(time.Hour)), podOf(b, save, 2, bound(time.Minute))
	ended := backuptest.New(hourly, backuptest.InRun(etcdv1beta2.RunFailed, 0))
	for name, c := range map[string]struct {
		backup *etcdv1beta2.EtcdBackup
		known  []corev1.Pod
		pod    corev1.Pod
		want   bool
	}{
		"it has none yet":                 {b, pods(first), first, true},
		"it has one":                      {b, pods(first, second), first, false},
		"it is the successor":             {b, pods(first, second), second, true},
		"it is one that the cache lacked": {b, pods(first), second, true},
		"the run has ended":               {ended, nil, second, false},
		"it has begun":                    {ended, nil, podOf(ended, save, 2), true},
		"its kubelet did not take it":     {ended, nil, podOf(ended, save, 2, withoutResult("OutOfcpu"), unbegun), true},
		"its start was not reported":      {ended, nil, podOf(ended, save, 2, reporting(0, good), unbegun), true},
	} {
		plan := planAt(c.backup, facts{now: backuptest.Noon, pods: c.known}, backuptest.Noon)
		if got := plan.Stays(&c.pod); got != c.want {
			t.Errorf("%s: expected that it stays: %t, got %t", name, c.want, got)
		}
	}
}

func TestAProofThatCannotBeMadeDoesNotHoldUpTheNextBackup(t *testing.T) {
	b := backuptest.New(hourly, backuptest.HasSaved, backuptest.Verified(1), backuptest.InRun(etcdv1beta2.RunVerifying, -2*time.Hour))
	out := reported(t, b, facts{obstacle: &obstacle{etcdv1beta2.ReasonSecretMissing, "s3.awsSecret: there is no Secret aws"}})
	if ready := conditionOf(out, "Ready"); out.Status.Run.Phase != etcdv1beta2.RunSucceeded || !strings.HasPrefix(ready, "False SecretMissing: ") {
		t.Errorf("expected the run to have ended, got %s, %s", out.Status.Run.Phase, ready)
	}
}

// madeFor records the generation of the spec that a pod was created for.
func madeFor(generation string) podOption {
	return func(pod *corev1.Pod) { pod.Annotations = map[string]string{generationAnnotation: generation} }
}

// madeOf records on a pod the pod settings of an EtcdBackup.
func madeOf(b *etcdv1beta2.EtcdBackup) podOption {
	return func(pod *corev1.Pod) { pod.Annotations[settingsAnnotation] = declared(b) }
}

// An edit of the spec may fix what prevents the pod's start, such as a node selector that matches no node.
func TestAPodThatDoesNotWorkYetIsRecreatedForAnotherSpec(t *testing.T) {
	b := backuptest.New(hourly, backuptest.InRun(etcdv1beta2.RunRunning, 0), backuptest.Edited)
	proof := backuptest.New(hourly, backuptest.HasSaved, backuptest.Verified(1), backuptest.InRun(etcdv1beta2.RunVerifying, 0), backuptest.Edited)
	for name, c := range map[string]struct {
		backup *etcdv1beta2.EtcdBackup
		pod    corev1.Pod
		stays  bool
	}{
		"no node takes it":                       {b, podOf(b, save, 1, unplaced(time.Minute), madeFor("1")), false},
		"its node says nothing":                  {b, podOf(b, save, 1, bound(time.Minute), madeFor("1")), false},
		"its image is not there":                 {b, podOf(b, save, 1, unpulled, madeFor("1")), false},
		"it is a proof":                          {proof, podOf(proof, verify, 1, unplaced(time.Minute), madeFor("1")), false},
		"it was made for this spec":              {b, podOf(b, save, 1, unplaced(time.Minute), madeFor("2")), true},
		"another field was edited":               {b, podOf(b, save, 1, unplaced(time.Minute), madeFor("1"), madeOf(b)), true},
		"this view of the spec is old":           {b, podOf(b, save, 1, unplaced(time.Minute), madeFor("3")), true},
		"its spec is not recorded":               {b, podOf(b, save, 1, unplaced(time.Minute)), true},
		"it is at work":                          {b, podOf(b, save, 1, madeFor("1")), true},
		"it has ended":                           {b, podOf(b, save, 1, reporting(0, away), madeFor("1")), true},
		"its kubelet did not take it":            {b, podOf(b, save, 1, withoutResult("OutOfcpu"), unbegun, madeFor("1")), true},
		"it has ended, beside another container": {b, podOf(b, save, 1, reporting(0, good), withSidecar, madeFor("1")), true},
	} {
		if got := planAt(c.backup, facts{now: backuptest.Noon, pods: pods(c.pod)}, backuptest.Noon).Stays(&c.pod); got != c.stays {
			t.Errorf("%s: expected that it stays: %t, got %t", name, c.stays, got)
		}
	}
	plan := planAt(b, facts{now: backuptest.Noon}, backuptest.Noon)
	if made := plan.Children[0].Object.(*corev1ac.PodApplyConfiguration); made.Annotations[generationAnnotation] != "2" || made.Labels[attemptLabel] != "1" {
		t.Errorf("expected the same attempt to be made for the spec as it is, got %v, %v", made.Annotations, made.Labels)
	}
}

func TestAPodThatDoesNotWorkYetIsReplacedForAnEditOfWhatItIsMadeWithAndForNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		edit  backuptest.Option
		stays bool
	}{
		"another node selector": {func(b *etcdv1beta2.EtcdBackup) {
			b.Spec.Pod = &etcdv1beta2.WorkerPolicy{NodeSelector: map[string]string{"disk": "fast"}}
		}, false},
		"other members":           {func(b *etcdv1beta2.EtcdBackup) { b.Spec.EtcdEndpoints = []string{"http://other:2379"} }, false},
		"another client Secret":   {func(b *etcdv1beta2.EtcdBackup) { b.Spec.ClientTLSSecret = "client" }, false},
		"another storage Secret":  {func(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = "rotated" }, false},
		"another style of path":   {func(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.ForcePathStyle = true }, false},
		"another timeout":         {func(b *etcdv1beta2.EtcdBackup) { b.Spec.BackupPolicy.TimeoutInSecond = 777 }, false},
		"another count of copies": {func(b *etcdv1beta2.EtcdBackup) { b.Spec.BackupPolicy.MaxBackups = 77 }, false},
		"another schedule":        {func(b *etcdv1beta2.EtcdBackup) { b.Spec.BackupPolicy.Schedule = "30 * * * *" }, true},
		"another time zone":       {func(b *etcdv1beta2.EtcdBackup) { b.Spec.BackupPolicy.TimeZone = "Asia/Tokyo" }, true},
		"another proof":           {backuptest.Verified(7), true},
		"suspended":               {backuptest.Suspended, true},
	} {
		b := backuptest.New(hourly, backuptest.InRun(etcdv1beta2.RunRunning, 0))
		pod := podOf(b, save, 1, unplaced(time.Minute), madeFor("1"), madeOf(b))
		backuptest.Edited(b)
		c.edit(b)
		if got := planAt(b, facts{now: backuptest.Noon, pods: pods(pod)}, backuptest.Noon).Stays(&pod); got != c.stays {
			t.Errorf("%s: expected that the pod stays: %t, got %t", name, c.stays, got)
		}
	}
}

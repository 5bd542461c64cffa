// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv/backuppods"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func secret(name string) client.Object {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func claim(name string) client.Object {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func TestWhatIsMissingIsNamedAndAllGoesOnWhenItAppears(t *testing.T) {
	withTLS := func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.ClientTLSSecret, b.Spec.EtcdEndpoints = "tls", []string{"https://db-client:2379"}
	}
	for name, c := range map[string]struct {
		option option
		reason string
		words  string
		comes  client.Object
	}{
		"storage": {withSecret("aws"), "SecretMissing", "s3.awsSecret: there is no Secret aws", secret("aws")},
		"tls":     {withTLS, "SecretMissing", "clientTLSSecret: there is no Secret tls", secret("tls")},
		"claim":   {intoClaim("vault"), "ClaimMissing", "pvc.claimName: there is no PersistentVolumeClaim vault", claim("vault")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(c.option)
			s.await("False "+c.reason, c.words)
			if n := len(s.pods()); n > 0 {
				t.Errorf("expected no pod, there are %d", n)
			}
			s.made(c.comes)
			s.succeeds(s.awaitPod("save", 1))
			s.await("True Saved")
		})
	}
}

func TestAClusterIsSavedOnceItHasMembers(t *testing.T) {
	s := newSite(t)
	s.create(ofCluster("shop"))
	s.await("False ClusterMissing", "there is no EtcdCluster shop")
	c := &etcdv1beta2.EtcdCluster{}
	c.Name, c.Spec.Size = "shop", 3
	c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{
		OperatorSecret: "shop-tls", Member: &etcdv1beta2.MemberSecret{ServerSecret: "server"}}}
	s.made(c)
	s.await("False ClusterNotReady", "EtcdCluster shop has no members yet")
	s.made(secret("shop-tls"))
	before := c.DeepCopy()
	c.Status.Membership = []etcdv1beta2.MemberIdentity{{ID: "1", Name: "shop-a"}, {ID: "2", Name: "shop-b"}, {ID: "3", Name: "shop-c", Learner: true}}
	if err := env.Client.Status().Patch(t.Context(), c, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	order := s.succeeds(s.awaitPod("save", 1))
	want := []string{"https://shop-a.shop." + s.ns + ".svc:2379", "https://shop-b.shop." + s.ns + ".svc:2379"}
	if !slices.Equal(order.Save.Endpoints, want) || order.Save.TLSDir == "" {
		t.Errorf("expected the voters %q to be asked with TLS, got %+v", want, order.Save)
	}
	s.await("True Saved")
}

func TestWhatIsSuspendedBeginsNothing(t *testing.T) {
	s := newSite(t)
	s.create(every(3600), suspended(true))
	s.await("False Suspended", "No backup has been made yet")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	if b := s.get("db"); b.Status.Run != nil || b.Status.NextDate != nil || len(s.pods()) > 0 {
		t.Errorf("expected no run, got %+v", b.Status)
	}
	s.edit(suspended(false))
	pod := s.awaitPod("save", 1)
	s.edit(suspended(true))
	s.succeeds(pod)
	if b := s.await("True Saved"); b.Status.Count != 1 {
		t.Errorf("expected the run that had begun to end well, got %+v", b.Status)
	}
}

func TestAPausedObjectMakesNoPodAndSaysSo(t *testing.T) {
	s := newSite(t)
	mark := env.Audit.Mark(t)
	s.create(annotated(common.PausedAnnotation, "true"))
	s.await("False Paused", "1 changes are held back")
	if writes := env.Settled(t, mark).Writes(); len(writes) != len(writes.On("etcdbackups/status")) {
		t.Errorf("expected no write but of the status, got:\n%s", writes)
	}
	s.edit(annotated(common.PausedAnnotation, "false"))
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
}

func TestTheCoreOSOperatorsFinalizerHoldsNoDeletionUpAndThatOfOthersSurvives(t *testing.T) {
	s := newSite(t)
	s.create(every(3600), held(etcdv1beta2.PeriodicFinalizer, "others.io/hold"))
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
	if b := s.get("db"); len(b.Finalizers) != 2 {
		t.Errorf("expected both to stay while it is not deleted, got %v", b.Finalizers)
	}
	mark := env.Audit.Mark(t)
	s.delete(s.get("db"))
	s.await("False Deleting", "others.io/hold")
	if b := s.get("db"); !slices.Equal(b.Finalizers, []string{"others.io/hold"}) {
		t.Errorf("expected that of others to stay, and it alone, got %v", b.Finalizers)
	}
	if got := env.Settled(t, mark).Writes().Tally(); got["patch etcdbackups"] != 1 || got["patch pods"] != 0 {
		t.Errorf("expected one write of the finalizers, got %v", got)
	}
	s.patch(s.get("db"), `{"metadata":{"finalizers":null}}`)
	s.gone()
}

// gone waits until the namespace has no EtcdBackups and no pods.
func (s *site) gone() {
	s.Helper()
	operator.Until(s.T, "nothing is left", func() error {
		list := &etcdv1beta2.EtcdBackupList{}
		if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns)); err != nil || len(list.Items) > 0 {
			return fmt.Errorf("%d objects are there: %w", len(list.Items), err)
		}
		if n := len(s.pods()); n > 0 {
			return fmt.Errorf("%d pods are there", n)
		}
		return nil
	})
}

func TestADeletionLeavesNothingAndWritesNothing(t *testing.T) {
	s := newSite(t)
	s.create(every(3600), verified(1))
	s.succeeds(s.awaitPod("save", 1))
	s.runs(s.awaitPod("verify", 1))
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	s.delete(s.get("db"))
	s.gone()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected the garbage collector to do it all, the operator wrote:\n%s", writes)
	}
}

// The name of a run's pod contains a hash of the EtcdBackup's UID. Another owner's pod can have this name only if a
// user copied the name.
func TestAnotherOwnersPodIsLeftAloneAndNamed(t *testing.T) {
	s := newSite(t)
	s.create(annotated(common.PausedAnnotation, "true"))
	b := s.await("False Paused")
	theirs := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}}
	theirs.Name = s.podName(b)
	s.made(theirs)
	s.edit(annotated(common.PausedAnnotation, "false"))
	s.await("False NameTaken", "Pod "+s.ns+"/"+theirs.Name, "leaves it unchanged")
	now := &corev1.Pod{}
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(theirs), now); err != nil || now.UID != theirs.UID || now.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("expected their pod as it was, got %+v %v", now.ObjectMeta, err)
	}
	s.delete(theirs)
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
}

// podName returns the name of the next pod, as the status reports it.
func (s *site) podName(b *etcdv1beta2.EtcdBackup) string {
	s.Helper()
	for _, c := range b.Status.Conditions {
		var name string
		if c.Type == etcdv1beta2.EtcdBackupSaved {
			if _, err := fmt.Sscanf(c.Message, "The first backup is being saved by pod %s", &name); err == nil {
				return name
			}
		}
	}
	s.Fatalf("no pod is named in %+v", b.Status.Conditions)
	return ""
}

func TestNothingThatIsChangedByHandOnAPodMakesASecondOne(t *testing.T) {
	for name, change := range map[string]string{
		"its order":    `{"metadata":{"annotations":{"` + backuppods.OrderAnnotation + `":"{}"}}}`,
		"its attempt":  `{"metadata":{"labels":{"` + backuppods.AttemptLabel + `":"3"}}}`,
		"its time":     `{"metadata":{"labels":{"` + backuppods.DueLabel + `":"1"}}}`,
		"its task":     `{"metadata":{"labels":{"` + backuppods.TaskLabel + `":"verify"}}}`,
		"its owner":    `{"metadata":{"labels":{"` + common.OwnerLabel + `":"x"}}}`,
		"all its keys": `{"metadata":{"labels":{"` + backuppods.AttemptLabel + `":null,"` + backuppods.DueLabel + `":null,"` + backuppods.TaskLabel + `":null},"annotations":null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(every(3600))
			pod := s.awaitPod("save", 1)
			order, _, err := backuppods.Order(pod)
			if err != nil {
				t.Fatal(err)
			}
			s.runs(pod)
			mark := env.Audit.Mark(t)
			s.patch(pod, change)
			if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
				t.Errorf("expected no write, got:\n%s", writes)
			}
			s.ends(pod, 0, backuppods.Success(order))
			if b := s.await("True Saved"); b.Status.Count != 1 || len(s.pods()) != 1 {
				t.Errorf("expected one success of one pod, got %+v and %d pods", b.Status, len(s.pods()))
			}
		})
	}
}

func TestAPodThatTheOperatorCannotSeeAnyMoreIsNamedAndReadWhenItCan(t *testing.T) {
	s := newSite(t)
	s.create()
	pod := s.awaitPod("save", 1)
	order, _, err := backuppods.Order(pod)
	if err != nil {
		t.Fatal(err)
	}
	s.patch(pod, `{"metadata":{"labels":{"`+common.ManagedByLabel+`":null}}}`)
	s.await("False Retrying", "Pod "+s.ns+"/"+pod.Name, "has lost the label "+common.ManagedByLabel)
	s.ends(pod, 0, backuppods.Success(order))
	if n := len(s.pods()); n != 1 {
		t.Errorf("expected no second pod, there are %d", n)
	}
	s.patch(pod, `{"metadata":{"labels":{"`+common.ManagedByLabel+`":"`+common.Name+`"}}}`)
	s.await("True Saved")
}

func TestADeletedPodIsRecreatedForTheSameOrder(t *testing.T) {
	s := newSite(t)
	s.create()
	pod := s.awaitPod("save", 1)
	first, _, _ := backuppods.Order(pod)
	s.runs(pod)
	s.delete(pod)
	operator.Until(t, "another pod is made", func() error {
		pods := s.pods()
		if len(pods) != 1 || pods[0].UID == pod.UID {
			return errors.New("there is none")
		}
		return nil
	})
	if order := s.succeeds(s.awaitPod("save", 1)); order.ID != first.ID {
		t.Errorf("expected the order %s again, which is not carried out twice, got %s", first.ID, order.ID)
	}
	if b := s.await("True Saved"); b.Status.Count != 1 {
		t.Errorf("expected one success, got %+v", b.Status)
	}
}

// Regression: if the status of a pod had no end time, the next attempt never started.
func TestAPodThatEndsWithoutAWordIsFollowedByTheNext(t *testing.T) {
	hours := metav1.NewTime(time.Now().Add(-2 * time.Hour))
	for name, c := range map[string]struct {
		status corev1.PodStatus
		words  string
	}{
		"its node is gone":        {corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &hours}, "was reported; its kubelet should have ended the pod"},
		"its kubelet evicted it":  {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on memory", StartTime: &hours}, "The node was low on memory"},
		"it was killed too early": {corev1.PodStatus{Phase: corev1.PodFailed, StartTime: &hours, ContainerStatuses: []corev1.ContainerStatus{killed("save", hours)}}, "OOMKilled, exit code 137"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create()
			pod := s.awaitPod("save", 1)
			pod.Status = c.status
			if err := env.Client.Status().Update(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			next := s.awaitPod("save", 2)
			s.await("False Retrying", "attempt 1 of 3 failed", c.words)
			s.succeeds(next)
			s.await("True Saved")
		})
	}
}

func killed(name string, at metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: at}}}
}

func TestARefusalByAQuotaIsQuotedAndWorkContinuesWhenItIsLifted(t *testing.T) {
	s := newSite(t)
	quota := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("0")}}}
	quota.Name = "small"
	s.made(quota)
	operator.Until(t, "the quota is in force", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil || len(quota.Status.Hard) == 0 {
			return fmt.Errorf("its status is %+v: %w", quota.Status, err)
		}
		return nil
	})
	s.create()
	s.await("False Refused", "exceeded quota: small")
	s.delete(quota)
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
}

func TestObjectsThatGetNoFurtherHoldNoOtherUp(t *testing.T) {
	s := newSite(t)
	for i := range 6 { // more than the operator reconciles concurrently
		s.create(named(fmt.Sprint("lost-", i)), ofCluster("nowhere"))
	}
	s.create(named("odd"), byCron("now and then"))
	s.create()
	s.succeeds(s.awaitPod("save", 1))
	s.await("True Saved")
	s.awaitOf("odd", "Ready", "False InvalidSpec", "write five fields")
	s.awaitOf("lost-5", "Ready", "False ClusterMissing")
}

func TestABackupOfTheCoreOSOperatorIsNotWrittenOver(t *testing.T) {
	s := newSite(t)
	s.operator.Stop()
	b := s.create()
	before := b.DeepCopy()
	b.Status = etcdv1beta2.EtcdBackupStatus{Succeeded: true, EtcdRevision: 7, EtcdVersion: "3.2.13"}
	if err := env.Client.Status().Patch(t.Context(), b, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	s.operator.Start()
	s.await("True Saved", "by another operator: revision 7")
	env.Settled(t, env.Audit.Mark(t))
	if n := len(s.pods()); n > 0 {
		t.Errorf("expected no pod, there are %d", n)
	}
}

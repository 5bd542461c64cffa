// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/testenv/backuppods"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

type option func(*etcdv1beta2.EtcdBackup)

func named(name string) option { return func(b *etcdv1beta2.EtcdBackup) { b.Name = name } }

func every(seconds int64) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &etcdv1beta2.BackupPolicy{BackupIntervalInSecond: seconds}
	}
}

func byCron(schedule string) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.BackupPolicy = &etcdv1beta2.BackupPolicy{Schedule: schedule}
	}
}

func verified(every int32) option {
	return func(b *etcdv1beta2.EtcdBackup) { b.Spec.Verify = &etcdv1beta2.VerifyPolicy{Every: every} }
}

func withSecret(name string) option {
	return func(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = name }
}

func withPath(path string) option { return func(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.Path = path } }

func intoClaim(name string) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.StorageType, b.Spec.S3, b.Spec.PVC = etcdv1beta2.StoragePVC, nil, &etcdv1beta2.PVCSource{ClaimName: name, Path: "db"}
	}
}

func ofCluster(name string) option {
	return func(b *etcdv1beta2.EtcdBackup) {
		b.Spec.EtcdEndpoints, b.Spec.EtcdCluster = nil, &etcdv1beta2.ClusterReference{Name: name}
	}
}

func suspended(yes bool) option { return func(b *etcdv1beta2.EtcdBackup) { b.Spec.Suspend = yes } }

func annotated(key, value string) option {
	return func(b *etcdv1beta2.EtcdBackup) { metav1.SetMetaDataAnnotation(&b.ObjectMeta, key, value) }
}

func held(finalizers ...string) option {
	return func(b *etcdv1beta2.EtcdBackup) { b.Finalizers = finalizers }
}

// site is the namespace of a test, with a running operator. Tests create and edit the EtcdBackup as the tenant, a user
// with few rights. If tenant is nil, they do this as an administrator.
type site struct {
	*testing.T
	ns       string
	operator *operator.Process
	tenant   *operator.Tenant
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteOf(t, env.Operator)
}

func newSiteOf(t *testing.T, start func(*testing.T) *operator.Process) *site {
	t.Helper()
	s := &site{T: t, ns: env.Namespace(t)}
	s.operator = start(t)
	env.Clear(t, &etcdv1beta2.EtcdBackupList{}, s.ns)
	return s
}

// create creates an EtcdBackup named db for a single backup. Its storage needs no Secret.
func (s *site) create(options ...option) *etcdv1beta2.EtcdBackup {
	s.Helper()
	b := s.object(options...)
	if err := env.As(s.tenant).Create(s.Context(), b); err != nil {
		s.Fatal(err)
	}
	return b
}

func (s *site) object(options ...option) *etcdv1beta2.EtcdBackup {
	b := &etcdv1beta2.EtcdBackup{}
	b.Namespace, b.Name = s.ns, "db"
	b.Spec.EtcdEndpoints, b.Spec.StorageType = []string{"http://db-client:2379"}, etcdv1beta2.StorageS3
	b.Spec.S3 = &etcdv1beta2.S3Source{Path: "backups/db"}
	for _, o := range options {
		o(b)
	}
	return b
}

func (s *site) made(object client.Object) {
	s.Helper()
	if object.GetNamespace() == "" {
		object.SetNamespace(s.ns)
	}
	if err := env.Client.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

func (s *site) get(name string) *etcdv1beta2.EtcdBackup {
	s.Helper()
	b := &etcdv1beta2.EtcdBackup{}
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: name}, b); err != nil {
		s.Fatal(err)
	}
	return b
}

// edit changes the EtcdBackup db as a user would.
func (s *site) edit(options ...option) {
	s.Helper()
	b := s.get("db")
	before := b.DeepCopy()
	for _, o := range options {
		o(b)
	}
	if err := env.As(s.tenant).Patch(s.Context(), b, client.MergeFrom(before), client.FieldOwner("kubectl-edit")); err != nil {
		s.Fatal(err)
	}
}

// patch changes an object as another client would.
func (s *site) patch(object client.Object, merge string) {
	s.Helper()
	if err := env.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner("another owner")); err != nil {
		s.Fatal(err)
	}
}

func (s *site) delete(object client.Object) {
	s.Helper()
	if err := env.Client.Delete(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// await waits until Ready has the given status and reason for the current spec, and its message contains the words.
func (s *site) await(statusReason string, words ...string) *etcdv1beta2.EtcdBackup {
	s.Helper()
	return s.awaitOf("db", etcdv1beta2.EtcdBackupReady, statusReason, words...)
}

func (s *site) awaitOf(name, kind, statusReason string, words ...string) *etcdv1beta2.EtcdBackup {
	s.Helper()
	var b *etcdv1beta2.EtcdBackup
	operator.Until(s.T, fmt.Sprintf("%s of %s is %s and says %q", kind, name, statusReason, words), func() error {
		b = s.get(name)
		found := meta.FindStatusCondition(b.Status.Conditions, kind)
		switch {
		case found == nil:
			return errors.New("there is no such condition")
		case b.Status.ObservedGeneration != b.Generation:
			return fmt.Errorf("the status is about generation %d, the spec is %d", b.Status.ObservedGeneration, b.Generation)
		case fmt.Sprintf("%s %s", found.Status, found.Reason) != statusReason:
			return fmt.Errorf("it is %s %s: %s", found.Status, found.Reason, found.Message)
		}
		for _, word := range words {
			if !strings.Contains(found.Message, word) {
				return fmt.Errorf("it says %q", found.Message)
			}
		}
		return nil
	})
	return b
}

// awaitCount waits until the given number of backups have succeeded, and the last run has ended.
func (s *site) awaitCount(n int64) *etcdv1beta2.EtcdBackup {
	s.Helper()
	var b *etcdv1beta2.EtcdBackup
	operator.Until(s.T, fmt.Sprintf("%d backups are counted", n), func() error {
		if b = s.get("db"); b.Status.Count != n || b.Status.Run.Phase != etcdv1beta2.RunSucceeded {
			return fmt.Errorf("there are %d, the run is %s", b.Status.Count, b.Status.Run.Phase)
		}
		return nil
	})
	return b
}

// pods returns all pods in the namespace, the oldest first.
func (s *site) pods() []corev1.Pod {
	s.Helper()
	list := &corev1.PodList{}
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return strings.Compare(works(a), works(b)) })
	return list.Items
}

// works identifies the work of a pod: the time of its run, the task and the attempt.
func works(pod corev1.Pod) string {
	return strings.Join([]string{pod.Labels[backuppods.DueLabel], pod.Labels[backuppods.TaskLabel], pod.Labels[backuppods.AttemptLabel]}, " ")
}

// awaitPod waits for the pod of an attempt in the current run of the EtcdBackup db.
func (s *site) awaitPod(task string, attempt int) *corev1.Pod {
	return s.awaitPodOf("db", task, attempt)
}

func (s *site) awaitPodOf(name, task string, attempt int) *corev1.Pod {
	s.Helper()
	var out *corev1.Pod
	operator.Until(s.T, fmt.Sprintf("attempt %d to %s %s is made", attempt, task, name), func() error {
		b := s.get(name)
		if b.Status.Run == nil {
			return errors.New("no run was begun")
		}
		want := fmt.Sprintf("%d %s %d", b.Status.Run.Due.Unix(), task, attempt)
		var there []string
		for _, pod := range s.pods() {
			if works(pod) == want && metav1.IsControlledBy(&pod, b) && pod.DeletionTimestamp == nil {
				out = &pod
				return nil
			}
			there = append(there, works(pod))
		}
		return fmt.Errorf("there are %q, and not %q", there, want)
	})
	return out
}

func (s *site) runs(pod *corev1.Pod) {
	s.Helper()
	if err := backuppods.Run(s.Context(), env.Client, pod); err != nil {
		s.Fatal(err)
	}
}

// succeeds makes a pod report that it has carried out its order (what to save or verify), and returns the order.
func (s *site) succeeds(pod *corev1.Pod) backup.Order {
	s.Helper()
	order, _, err := backuppods.Order(pod)
	if err != nil {
		s.Fatal(err)
	}
	s.ends(pod, 0, backuppods.Success(order))
	return order
}

func (s *site) ends(pod *corev1.Pod, ago time.Duration, result backup.Result) {
	s.Helper()
	if err := backuppods.End(s.Context(), env.Client, pod, ago, result); err != nil {
		s.Fatal(err)
	}
}

// away is the result of a pod if the storage does not answer.
var away = backup.Result{Outcome: backup.Failed, Reason: backup.ReasonStoreUnreachable, Message: "S3: connection refused"}

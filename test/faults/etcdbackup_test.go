// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/backuppods"
)

func TestEtcdBackup(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:       etcdbackup.Kind(),
		Namespaced: true,
		Nodes:      1,
		Patience:   45 * time.Second, // runs are 10 s apart, and opcrew checks every 15 s whether the cluster exists
		// Even with an old view, the operator must not create a pod for a run that has ended.
		OldLists: true,
		Primary:  &etcdv1beta2.EtcdBackup{},
		Others:   []client.Object{&corev1.Pod{}, &etcdv1beta2.EtcdCluster{}},
		// Pods are not counted, because their names contain the object's UID and the time. onePodAnAttempt checks their
		// number.
		Uncounted: []string{"Pod"},
		Server: func(t *testing.T, env *testenv.Env) {
			backuppods.Follow(t, env.Config, env.Client, carriedOut)
		},
		Truth: lastRunSucceeded,
		Invariants: []faults.Invariant{
			{Name: "an attempt never has a second pod", Check: onePodAnAttempt},
			{Name: "at most one pod runs", Check: onePodAtWork},
			{Name: "a pod is created only for a recorded run", Check: begunIsWritten},
			{Name: "every successful run is counted once", Check: countedOnce},
			{Name: "a successful run never changes", Check: successStays},
		},
		Mask:      maskBackup,
		Workloads: []faults.Workload{savingOnce, savingAgain, failingFirst, savingVerified, savingCluster, savingReborn},
	})
}

// carriedOut returns the result that a simulated pod reports. It depends on the backup's path: at "flaky" the first
// attempts fail, at "broken" all attempts fail, and at "slow" no attempt ends.
func carriedOut(o backup.Order, attempt int) *backup.Result {
	result, path := backuppods.Success(o), o.Target.Path
	if strings.HasSuffix(path, "/slow") {
		return nil
	}
	if strings.HasSuffix(path, "/broken") || strings.HasSuffix(path, "/flaky") && attempt < 3 {
		result = backup.Result{Outcome: backup.Failed, Reason: backup.ReasonStoreUnreachable, Message: "S3: connection refused"}
	}
	return &result
}

func backupManifest(path, more string) string {
	return `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: db}
spec: {storageType: S3, s3: {path: ` + path + `}, ` + more + `}
`
}

const ofEndpoints = `etcdEndpoints: ["http://db-client:2379"]`

func saveBackup(name, path, more string, until func(faults.View) error) faults.Step {
	return faults.Step{Name: name, Do: func(u *faults.User) { u.Apply(backupManifest(path, more)) }, Until: until}
}

func editBackup(name, spec string, until func(faults.View) error) faults.Step {
	return faults.Step{
		Name:  name,
		Do:    func(u *faults.User) { u.Patch("db", &etcdv1beta2.EtcdBackup{}, `{"spec":`+spec+`}`) },
		Until: until,
	}
}

var savingOnce = faults.Workload{
	Name:  "once",
	Steps: []faults.Step{saveBackup("save it", "backups/db", ofEndpoints, backedUp(1))},
}

// savingAgain schedules two runs that are 10 s apart. The next run is a year later, because otherwise the operator
// would never stop writing. If the operator sees only the final state, it executes only one run.
var savingAgain = faults.Workload{
	Name: "periodic",
	Steps: []faults.Step{
		saveBackup("save it each year", "backups/db", ofEndpoints+`, backupPolicy: {backupIntervalInSecond: 31536000}`, backedUp(1)),
		editBackup("save it each 10 s", `{"backupPolicy":{"backupIntervalInSecond":10}}`, backedUp(2)),
		editBackup("save it each year again", `{"backupPolicy":{"backupIntervalInSecond":31536000}}`, backedUp(1)),
	},
}

// failingFirst has one run in which all three attempts fail, and a second run in which the third attempt succeeds.
var failingFirst = faults.Workload{
	Name: "failing",
	Steps: []faults.Step{
		saveBackup("save it where no store answers", "backups/broken", ofEndpoints, gaveUp),
		editBackup("save it where a store answers at times", `{"s3":{"path":"backups/flaky"}}`, backedUp(1)),
	},
}

var savingVerified = faults.Workload{
	Name:  "verified",
	Steps: []faults.Step{saveBackup("save and verify it", "backups/db", ofEndpoints+`, verify: {every: 1}`, verifiedBackup)},
}

// savingCluster creates the EtcdBackup first. The backup must wait until an EtcdCluster has a member.
var savingCluster = faults.Workload{
	Name: "cluster",
	World: func(w *faults.World) {
		w.Apply("apiVersion: etcd.database.coreos.com/v1beta2\nkind: EtcdCluster\nmetadata: {name: shop}\nspec: {size: 1}\n")
	},
	Steps: []faults.Step{
		saveBackup("save a cluster that begins", "backups/db", `etcdCluster: {name: shop}`, waitsFor(etcdv1beta2.ReasonClusterNotReady)),
		{
			Name: "it has a member",
			Do: func(u *faults.User) {
				u.PatchStatus("shop", &etcdv1beta2.EtcdCluster{}, `{"status":{"membership":[{"id":"1","name":"shop-a"}]}}`)
			},
			Until: backedUp(1),
		},
	},
}

// savingReborn deletes the EtcdBackup while its pod runs, and recreates it with a different spec.
var savingReborn = faults.Workload{
	Name: "deleted",
	Steps: []faults.Step{
		saveBackup("save it where it takes long", "backups/slow", ofEndpoints, isAtWork),
		{
			Name:  "delete it",
			Do:    func(u *faults.User) { u.Delete("db", &etcdv1beta2.EtcdBackup{}) },
			Until: func(v faults.View) error { return v.Gone("db", &etcdv1beta2.EtcdBackup{}) },
		},
		saveBackup("make it again", "backups/db", ofEndpoints, backedUp(1)),
	},
}

func backupIs(v faults.View) (*etcdv1beta2.EtcdBackup, metav1.Condition, error) {
	b := &etcdv1beta2.EtcdBackup{}
	if err := v.Get("db", b); err != nil {
		return nil, metav1.Condition{}, err
	}
	for _, c := range b.Status.Conditions {
		if c.Type == etcdv1beta2.EtcdBackupReady && b.Status.ObservedGeneration == b.Generation {
			return b, c, nil
		}
	}
	return nil, metav1.Condition{}, fmt.Errorf("the status is %+v", b.Status)
}

// backedUp holds if at least the given number of runs has succeeded, and the latest run is one of them.
func backedUp(least int64) func(faults.View) error {
	return func(v faults.View) error {
		b, ready, err := backupIs(v)
		if err != nil {
			return err
		}
		if ready.Status != metav1.ConditionTrue || b.Status.Count < least || b.Status.Run.Phase != etcdv1beta2.RunSucceeded {
			return fmt.Errorf("the status is %+v", b.Status)
		}
		return lastRunSucceeded(v, b)
	}
}

func verifiedBackup(v faults.View) error {
	b, _, err := backupIs(v)
	if err == nil && b.Status.Verified == nil {
		err = fmt.Errorf("the status is %+v", b.Status)
	}
	if err != nil {
		return err
	}
	return backedUp(1)(v)
}

func waitsFor(reason string) func(faults.View) error {
	return func(v faults.View) error {
		if _, ready, err := backupIs(v); err != nil || ready.Reason != reason {
			return fmt.Errorf("Ready is %s, %s: %w", ready.Status, ready.Reason, err)
		}
		return nil
	}
}

func isAtWork(v faults.View) error {
	b, ready, err := backupIs(v)
	if err != nil || ready.Reason != etcdv1beta2.ReasonRunning {
		return fmt.Errorf("Ready is %s, %s: %w", ready.Status, ready.Reason, err)
	}
	if pods := backupPods(v, b); len(pods) != 1 || pods[0].Status.Phase != corev1.PodRunning {
		return fmt.Errorf("there are %d pods", len(pods))
	}
	return nil
}

func gaveUp(v faults.View) error {
	b, ready, err := backupIs(v)
	if err != nil || ready.Reason != string(backup.ReasonStoreUnreachable) || b.Status.Run.Phase != etcdv1beta2.RunFailed {
		return fmt.Errorf("Ready is %s, %s: %w", ready.Status, ready.Reason, err)
	}
	if pods := backupPods(v, b); len(pods) != etcdv1beta2.BackupAttempts {
		return fmt.Errorf("there are %d pods", len(pods))
	}
	return nil
}

// lastRunSucceeded checks that a ready EtcdBackup is truly ready. A pod must have saved the backup that status.last
// names, and a pod must have verified the backup that status.verified names. It does not check later runs.
func lastRunSucceeded(v faults.View, object client.Object) error {
	b := object.(*etcdv1beta2.EtcdBackup)
	if b.Status.Last == nil || b.Status.Run == nil {
		return fmt.Errorf("the status records no backup")
	}
	if b.Status.Run.Phase == etcdv1beta2.RunRunning {
		return nil // the operator deletes the pods of the last run when the next run starts
	}
	saved := slices.ContainsFunc(backupPods(v, b), func(pod corev1.Pod) bool {
		result, ok := resultOf(&pod)
		return ok && pod.Labels[backuppods.TaskLabel] == "save" && result.Outcome == backup.Succeeded && result.Object == b.Status.Last.Object
	})
	if !saved {
		return fmt.Errorf("no pod has reported the backup %s", b.Status.Last.Object)
	}
	return nil
}

func backupPods(v faults.View, b *etcdv1beta2.EtcdBackup) []corev1.Pod {
	pods := &corev1.PodList{}
	if v.List(pods) != nil {
		return nil
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, b) })
}

// resultOf returns the result that a pod has reported. It returns false while the pod runs.
func resultOf(pod *corev1.Pod) (backup.Result, bool) {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			result, err := backup.ParseResult(c.State.Terminated.Message)
			return result, err == nil
		}
	}
	return backup.Result{}, false
}

// attempts maps names of pods to their UIDs. All cases share it, as the names are unique: they contain the object's
// UID.
var attempts sync.Map

// onePodAnAttempt holds if the operator never creates a pod with the name of an earlier pod. The name identifies an
// attempt, and each attempt must start only one pod.
func onePodAnAttempt(_, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "Pod" || !e.New {
		return nil
	}
	if was, _ := attempts.LoadOrStore(e.Key, e.Object.GetUID()); was != e.Object.GetUID() {
		return fmt.Errorf("pod %s was created again", e.Key.Name)
	}
	return nil
}

func onePodAtWork(_, after faults.View, e faults.Event) error {
	b := &etcdv1beta2.EtcdBackup{}
	if e.Key.Kind != "Pod" || !sees(after, "db", b) {
		return nil
	}
	var busy []string
	for _, pod := range backupPods(after, b) {
		if _, ended := resultOf(&pod); !ended && pod.DeletionTimestamp == nil {
			busy = append(busy, pod.Name)
		}
	}
	if len(busy) > 1 {
		return fmt.Errorf("the pods %q run at the same time", busy)
	}
	return nil
}

// begunIsWritten holds if the operator creates a pod only after it has recorded the run in the status.
func begunIsWritten(before, _ faults.View, e faults.Event) error {
	b := &etcdv1beta2.EtcdBackup{}
	if e.Key.Kind != "Pod" || !e.New || !sees(before, "db", b) || !metav1.IsControlledBy(e.Object, b) {
		return nil
	}
	if run := b.Status.Run; run == nil || fmt.Sprint(run.Due.Unix()) != e.Object.GetLabels()[backuppods.DueLabel] {
		return fmt.Errorf("the pod does not belong to the run in the status, %+v", run)
	}
	return nil
}

// countedOnce holds if the number of successful runs increases by one exactly when the status reports a run as
// successful. A pod must have reported this success earlier.
func countedOnce(before, after faults.View, e faults.Event) error {
	was, is := &etcdv1beta2.EtcdBackup{}, &etcdv1beta2.EtcdBackup{}
	if e.Key.Kind != "EtcdBackup" || !sees(before, "db", was) || !sees(after, "db", is) || was.UID != is.UID {
		return nil
	}
	raised := is.Status.Count - was.Status.Count
	ended := was.Status.Run != nil && was.Status.Run.Phase == etcdv1beta2.RunRunning && is.Status.Run.Due.Equal(&was.Status.Run.Due) &&
		(is.Status.Run.Phase == etcdv1beta2.RunSucceeded || is.Status.Run.Phase == etcdv1beta2.RunVerifying)
	switch {
	case ended && raised != 1, !ended && raised != 0:
		return fmt.Errorf("the count changed from %d to %d while the run changed from %+v to %+v", was.Status.Count, is.Status.Count, was.Status.Run, is.Status.Run)
	case ended:
		return lastRunSucceeded(after, is)
	}
	return nil
}

// successStays holds if the status of a successful run never changes, and if no run starts before the previous run has
// ended.
func successStays(before, after faults.View, e faults.Event) error {
	was, is := &etcdv1beta2.EtcdBackup{}, &etcdv1beta2.EtcdBackup{}
	if e.Key.Kind != "EtcdBackup" || !sees(before, "db", was) || !sees(after, "db", is) || was.UID != is.UID || was.Status.Run == nil {
		return nil
	}
	busy := was.Status.Run.Phase == etcdv1beta2.RunRunning || was.Status.Run.Phase == etcdv1beta2.RunVerifying
	switch now := is.Status.Run; {
	case now == nil, now.Due.Before(&was.Status.Run.Due), busy && !now.Due.Equal(&was.Status.Run.Due):
		return fmt.Errorf("the run %+v became %+v", was.Status.Run, now)
	case now.Due.Equal(&was.Status.Run.Due) && !busy && now.Phase != was.Status.Run.Phase:
		return fmt.Errorf("the run was %s and is now %s", was.Status.Run.Phase, now.Phase)
	case was.Status.Last != nil && is.Status.Last == nil:
		return fmt.Errorf("the status no longer contains the last successful backup")
	}
	return nil
}

// maskBackup removes values that differ between runs: values that contain the object's UID or a time, and the number of
// scheduled runs.
func maskBackup(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case "EtcdBackup":
		for _, field := range []string{"run", "count", "last", "verified", "lastSuccessDate", "nextDate"} {
			unstructured.RemoveNestedField(object.Object, "status", field)
		}
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, c := range conditions {
			delete(c.(map[string]any), "message")
		}
		_ = unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")
	case "EtcdCluster":
		unstructured.RemoveNestedField(object.Object, "status") // the test itself writes this status
	case "Pod":
		// The comparison with the run without faults only checks that the pods exist. The functions Truth and
		// Invariants of this Subject check what is in them.
		object.Object = map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "attempt"}}
	}
}

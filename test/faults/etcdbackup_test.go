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
		Patience:   45 * time.Second, // runs are 10 s apart, and opcrew looks for the cluster every 15 s
		OldLists:   true,             // whatever the operator's view, it must create no pod for a run that has ended
		Primary:    &etcdv1beta2.EtcdBackup{},
		Others:     []client.Object{&corev1.Pod{}, &etcdv1beta2.EtcdCluster{}},
		// Their names contain the object's UID and the time; onePodAnAttempt counts them.
		Uncounted: []string{"Pod"},
		Server: func(t *testing.T, env *testenv.Env) {
			backuppods.Follow(t, env.Config, env.Client, carriedOut)
		},
		Truth: lastRunSucceeded,
		Invariants: []faults.Invariant{
			{Name: "an attempt has one pod, ever", Check: onePodAnAttempt},
			{Name: "one pod is at work at a time", Check: onePodAtWork},
			{Name: "what is begun is written down", Check: begunIsWritten},
			{Name: "every success is counted once", Check: countedOnce},
			{Name: "a success stays", Check: successStays},
		},
		Mask:      maskBackup,
		Workloads: []faults.Workload{savingOnce, savingAgain, failingFirst, savingVerified, savingCluster, savingReborn},
	})
}

// carriedOut returns the simulated result of an order, which depends on the backup's path: at "flaky" the first
// attempts fail, at "broken" all attempts fail, and at "slow" they never end.
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

// savingAgain has two runs that are 10 s apart, and then none for a year, since otherwise the operator would never
// rest. An operator that sees only the outcome has only one run.
var savingAgain = faults.Workload{
	Name: "periodic",
	Steps: []faults.Step{
		saveBackup("save it each year", "backups/db", ofEndpoints+`, backupPolicy: {backupIntervalInSecond: 31536000}`, backedUp(1)),
		editBackup("save it each 10 s", `{"backupPolicy":{"backupIntervalInSecond":10}}`, backedUp(2)),
		editBackup("save it each year again", `{"backupPolicy":{"backupIntervalInSecond":31536000}}`, backedUp(1)),
	},
}

// failingFirst has a run whose three attempts fail, and then a run whose third attempt succeeds.
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

// savingCluster waits until an EtcdCluster has a member.
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

// savingReborn deletes the object while its pod runs, and recreates it with another spec.
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

// backedUp holds when at least n runs have succeeded and the latest run is one of them.
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
			return fmt.Errorf("it is %s %s: %w", ready.Status, ready.Reason, err)
		}
		return nil
	}
}

func isAtWork(v faults.View) error {
	b, ready, err := backupIs(v)
	if err != nil || ready.Reason != etcdv1beta2.ReasonRunning {
		return fmt.Errorf("it is %s %s: %w", ready.Status, ready.Reason, err)
	}
	if pods := backupPods(v, b); len(pods) != 1 || pods[0].Status.Phase != corev1.PodRunning {
		return fmt.Errorf("there are %d pods", len(pods))
	}
	return nil
}

func gaveUp(v faults.View) error {
	b, ready, err := backupIs(v)
	if err != nil || ready.Reason != string(backup.ReasonStoreUnreachable) || b.Status.Run.Phase != etcdv1beta2.RunFailed {
		return fmt.Errorf("it is %s %s: %w", ready.Status, ready.Reason, err)
	}
	if pods := backupPods(v, b); len(pods) != etcdv1beta2.BackupAttempts {
		return fmt.Errorf("there are %d pods", len(pods))
	}
	return nil
}

// lastRunSucceeded checks what Ready promises: a pod has saved the backup in status.last, and a pod has verified the
// backup in status.verified. Later runs are not covered.
func lastRunSucceeded(v faults.View, object client.Object) error {
	b := object.(*etcdv1beta2.EtcdBackup)
	if b.Status.Last == nil || b.Status.Run == nil {
		return fmt.Errorf("nothing was saved")
	}
	if b.Status.Run.Phase == etcdv1beta2.RunRunning {
		return nil // the pods of the last run are deleted when the next run begins
	}
	saved := slices.ContainsFunc(backupPods(v, b), func(pod corev1.Pod) bool {
		result, ok := resultOf(&pod)
		return ok && pod.Labels[backuppods.TaskLabel] == "save" && result.Outcome == backup.Succeeded && result.Object == b.Status.Last.Object
	})
	if !saved {
		return fmt.Errorf("no pod has saved %s", b.Status.Last.Object)
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

// resultOf returns the result of a pod, and false while the pod runs.
func resultOf(pod *corev1.Pod) (backup.Result, bool) {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Terminated != nil {
			result, err := backup.ParseResult(c.State.Terminated.Message)
			return result, err == nil
		}
	}
	return backup.Result{}, false
}

// attempts maps the pod names of all cases, which contain the object's UID, to pod UIDs.
var attempts sync.Map

// onePodAnAttempt holds if no pod name is used twice.
func onePodAnAttempt(_, _ faults.View, e faults.Event) error {
	if e.Key.Kind != "Pod" || !e.New {
		return nil
	}
	if was, _ := attempts.LoadOrStore(e.Key, e.Object.GetUID()); was != e.Object.GetUID() {
		return fmt.Errorf("pod %s was made again", e.Key.Name)
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
		return fmt.Errorf("pods %q are at work", busy)
	}
	return nil
}

// begunIsWritten holds if a pod is only created for a run that the status already records.
func begunIsWritten(before, _ faults.View, e faults.Event) error {
	b := &etcdv1beta2.EtcdBackup{}
	if e.Key.Kind != "Pod" || !e.New || !sees(before, "db", b) || !metav1.IsControlledBy(e.Object, b) {
		return nil
	}
	if run := b.Status.Run; run == nil || fmt.Sprint(run.Due.Unix()) != e.Object.GetLabels()[backuppods.DueLabel] {
		return fmt.Errorf("it is not of the run %+v", run)
	}
	return nil
}

// countedOnce holds if the count rises by one exactly when a run becomes a success, after a pod has reported the
// success.
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
		return fmt.Errorf("the count went from %d to %d as the run went from %+v to %+v", was.Status.Count, is.Status.Count, was.Status.Run, is.Status.Run)
	case ended:
		return lastRunSucceeded(after, is)
	}
	return nil
}

// successStays holds if a reported success never changes, and no run starts before the previous one has ended.
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
		return fmt.Errorf("the run was %s and is %s", was.Status.Run.Phase, now.Phase)
	case was.Status.Last != nil && is.Status.Last == nil:
		return fmt.Errorf("the last success was forgotten")
	}
	return nil
}

// maskBackup removes values that contain the object's UID or the time, and the number of scheduled times.
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
		unstructured.RemoveNestedField(object.Object, "status") // written by the user
	case "Pod":
		// Truth and the invariants check their content; here they are only counted.
		object.Object = map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "attempt"}}
	}
}

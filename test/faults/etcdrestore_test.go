// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv/backuppods"
)

const restoreManifest = `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata: {name: db}
spec: {etcdCluster: {name: db}, backupStorageType: S3, s3: {path: %s}}
`

// restoreEtcd returns a step that creates an EtcdRestore. It deletes an existing EtcdRestore first, because its spec is
// immutable.
func restoreEtcd(name, path string, until func(faults.View) error) faults.Step {
	return faults.Step{
		Name: name,
		Do: func(u *faults.User) {
			u.Delete("db", &etcdv1beta2.EtcdRestore{})
			u.Apply(fmt.Sprintf(restoreManifest, path))
		},
		Until:    until,
		Patience: 45 * time.Second,
	}
}

var deleteRestore = faults.Step{
	Name:  "delete the restore, which is done",
	Do:    func(u *faults.User) { u.Delete("db", &etcdv1beta2.EtcdRestore{}) },
	Until: etcdReady,
}

// etcdRestoring replaces the data of a running cluster with a backup.
var etcdRestoring = faults.Workload{
	Name:  "restoring",
	Steps: []faults.Step{createEtcd(2), restoreEtcd("restore it", "backups/db", etcdRestored), deleteRestore},
}

// etcdRestoringAgain requests a second restore while the first one is in progress, and a third restore after the second
// has finished.
var etcdRestoringAgain = faults.Workload{
	Name: "restoring-again",
	Steps: []faults.Step{
		createEtcd(2),
		restoreEtcd("restore it", "backups/first", restoreTakenUp),
		restoreEtcd("restore another backup while that is under way", "backups/second", etcdRestored),
		restoreEtcd("restore a third when that was carried through", "backups/third", etcdRestored),
		deleteRestore,
	},
}

// etcdRecovering lets a cluster with emptyDir volumes lose one of its two members. The remaining member can never form
// a quorum again, so the cluster needs a restore.
var etcdRecovering = faults.Workload{
	Name: "recovering",
	Steps: []faults.Step{
		{
			Name: "create a cluster of 2 that may go on from what is left",
			Do: func(u *faults.User) {
				u.Apply(fmt.Sprintf(etcdManifest, 2))
				u.Patch("db", &etcdv1beta2.EtcdCluster{}, `{"spec":{"recovery":{"quorumLoss":"Automatic"}}}`)
			},
			Until: etcdReady,
		},
		{
			Name: "a member hangs, and a user deletes its pod",
			Do: func(u *faults.User) {
				pods := &corev1.PodList{}
				u.List(pods, client.MatchingLabels{"etcd_cluster": "db"})
				for _, pod := range pods.Items {
					if pod.Annotations["etcd.opcrew.io/serial"] == "1" {
						stores.Hang(pod.Name) // otherwise the operator may replace the pod before its member hangs
						u.Delete(pod.Name, &corev1.Pod{})
					}
				}
			},
			// The step does not check that the pod was deleted: in a case with late events, the pod may not exist yet.
			Until:    etcdReady,
			Patience: 45 * time.Second,
		},
	},
}

// restoreTakenUp holds if the operator has started the existing EtcdRestore.
func restoreTakenUp(v faults.View) error {
	c, r := &etcdv1beta2.EtcdCluster{}, &etcdv1beta2.EtcdRestore{}
	if err := errors.Join(v.Get("db", c), v.Get("db", r)); err != nil {
		return err
	}
	if !c.Status.Restore.TookUp(r.UID) {
		return fmt.Errorf("restore %s has not started, the status is %+v", r.UID, c.Status)
	}
	return nil
}

// etcdRestored holds if all members have the data of the existing EtcdRestore, and no earlier member exists.
func etcdRestored(v faults.View) error {
	c, r := &etcdv1beta2.EtcdCluster{}, &etcdv1beta2.EtcdRestore{}
	if err := errors.Join(v.Get("db", c), v.Get("db", r)); err != nil {
		return err
	}
	if c.Status.Lineage != string(r.UID) {
		return fmt.Errorf("restore %s is not complete, the status is %+v", r.UID, c.Status)
	}
	var members, pods []string
	for _, m := range stores.Members(fmt.Sprintf("%s/%s", c.UID, r.UID)) { // the cluster's token after the restore
		members = append(members, m.Name)
	}
	for _, pod := range etcdPods(v) {
		pods = append(pods, pod.Name)
	}
	slices.Sort(members)
	if slices.Sort(pods); !slices.Equal(members, pods) {
		return fmt.Errorf("the members with restored data are %q, and the pods are %q", members, pods)
	}
	return etcdReady(v)
}

// oneLineageServes holds if clients never reach both members with the previous data and members with the restored data.
func oneLineageServes(_, after faults.View, e faults.Event) error {
	c := &etcdv1beta2.EtcdCluster{}
	if e.Key.Kind != "Pod" || !sees(after, "db", c) || c.Status.Restore == nil {
		return nil
	}
	old, restored := "", ""
	for _, pod := range etcdPods(after) {
		serial, err := strconv.ParseInt(pod.Annotations["etcd.opcrew.io/serial"], 10, 64)
		switch {
		case err != nil, pod.Labels["etcd.opcrew.io/voter"] != "true", !metav1.IsControlledBy(&pod, c):
		case serial < c.Status.Restore.Serial:
			old = pod.Name
		default:
			restored = pod.Name
		}
	}
	if old != "" && restored != "" {
		return fmt.Errorf("clients reach %s of the old cluster and %s of the restored cluster", old, restored)
	}
	return nil
}

// oneRestoreInCharge holds if a restore starts only after the previous restore was completed or cancelled, and if the
// cluster only switches to the data of the active restore.
func oneRestoreInCharge(before, after faults.View, e faults.Event) error {
	was, is := &etcdv1beta2.EtcdCluster{}, &etcdv1beta2.EtcdCluster{}
	if e.Key.Kind != "EtcdCluster" || !sees(before, "db", was) || !sees(after, "db", is) || was.UID != is.UID {
		return nil
	}
	old := ""
	if at := was.Status.Restore; at != nil && at.Phase == etcdv1beta2.PhaseRestoring {
		old = at.UID
	}
	switch now := is.Status.Restore; {
	case old != "" && (now == nil || now.UID != old):
		return fmt.Errorf("restore %s was in progress, but the status switched to %+v", old, now)
	case was.Status.Lineage != is.Status.Lineage && is.Status.Lineage != old:
		return fmt.Errorf("the cluster switched to the data of %s, but the active restore was %q", is.Status.Lineage, old)
	}
	return nil
}

// seedsOfTheirRestore holds if a member that starts from a backup uses the backup that its EtcdRestore names.
func seedsOfTheirRestore(before, _ faults.View, e faults.Event) error {
	r := &etcdv1beta2.EtcdRestore{}
	if e.Key.Kind != "Pod" || !e.New || !sees(before, "db", r) {
		return nil
	}
	order, err := backup.ParseOrder(e.Object.GetAnnotations()[backuppods.OrderAnnotation])
	if err == nil && strings.HasPrefix(order.ID, string(r.UID)+"/") && order.Target.Path != r.Spec.S3.Path {
		return fmt.Errorf("the member starts from the backup %s, but the restore names %s", order.Target.Path, r.Spec.S3.Path)
	}
	return nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/etcdpods"
)

// stores simulates etcd: each simulated pod is a member in memory.
var stores = &etcdtest.World{LearnerLooks: 1}

func TestEtcdCluster(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:       etcdcluster.KindWith(stores.Dial),
		Namespaced: true,
		Nodes:      5,
		Primary:    &etcdv1beta2.EtcdCluster{},
		Others: []client.Object{
			&corev1.Pod{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.PersistentVolumeClaim{}, &policyv1.PodDisruptionBudget{},
			&etcdv1beta2.EtcdRestore{},
		},
		// Pods and claims are not counted, because their names contain the cluster's UID, and a replacement has a new
		// name.
		Uncounted: []string{"Pod", "PersistentVolumeClaim"},
		Server:    func(t *testing.T, env *testenv.Env) { etcdpods.Follow(t, env.Config, env.Client, stores) },
		Truth:     membersServe,
		Invariants: []faults.Invariant{
			{Name: "no data is lost and no second history starts", Check: oneHistory},
			{Name: "the cluster ID never changes", Check: oneCluster},
			{Name: "the operator deletes no pod that the quorum needs", Check: quorumOfPods},
			{Name: "clients reach no member before the cluster is formed", Check: clientsComeLate},
			{Name: "clients never reach both old and restored data", Check: oneLineageServes},
			{Name: "only one restore is active", Check: oneRestoreInCharge},
			{Name: "a restored member uses the backup of its restore", Check: seedsOfTheirRestore},
		},
		Mask:      maskEtcd,
		Workloads: []faults.Workload{etcdScaling, etcdChanging, etcdSleeping, etcdRestoring, etcdRestoringAgain, etcdRecovering, etcdTending, etcdMoving},
	})
}

const etcdManifest = `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: db}
spec: {size: %d, version: 3.5.35}
`

const persistentEtcd = `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: db}
spec:
  size: 3
  version: 3.5.35
  pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
`

func createEtcd(size int) faults.Step {
	return faults.Step{
		Name:  fmt.Sprintf("create a cluster of %d", size),
		Do:    func(u *faults.User) { u.Apply(fmt.Sprintf(etcdManifest, size)) },
		Until: etcdReady,
		// The operator may crash after each of the dozen writes in this step.
		Patience: patience,
	}
}

// patience is the time limit of a step in which the operator crashes after each write.
const patience = 45 * time.Second

func editEtcd(name, spec string) faults.Step {
	return faults.Step{
		Name:     name,
		Do:       func(u *faults.User) { u.Patch("db", &etcdv1beta2.EtcdCluster{}, `{"spec":`+spec+`}`) },
		Until:    etcdReady,
		Patience: patience, // the operator replaces members that use an emptyDir volume one at a time
	}
}

// etcdScaling creates a cluster, adds members and removes members, as in the tutorial article that this API comes from.
var etcdScaling = faults.Workload{
	Name: "scaling",
	Steps: []faults.Step{
		createEtcd(1),
		editEtcd("grow to three", `{"size":3}`),
		editEtcd("shrink to two", `{"size":2}`),
	},
}

// etcdChanging changes the version. Then it changes the environment of the pods, so that the operator replaces all pods
// and their emptyDir volumes are lost. Finally it changes the resources, which the operator changes in running pods.
var etcdChanging = faults.Workload{
	Name: "changing",
	Steps: []faults.Step{
		createEtcd(3),
		editEtcd("raise the version", `{"version":"3.5.36"}`),
		editEtcd("give it a variable", `{"pod":{"etcdEnv":[{"name":"ETCD_QUOTA_BACKEND_BYTES","value":"1000000"}]}}`),
		editEtcd("give it memory", `{"pod":{"resources":{"limits":{"memory":"1Gi"}}}}`),
	},
}

// etcdSleeping deletes the pod of a member. Later it hibernates the cluster and resumes it.
var etcdSleeping = faults.Workload{
	Name: "sleeping",
	Steps: []faults.Step{
		{
			Name:  "create a cluster with claims",
			Do:    func(u *faults.User) { u.Apply(persistentEtcd) },
			Until: etcdReady, Patience: patience,
		},
		{
			Name: "a user deletes a pod",
			Do: func(u *faults.User) {
				pods := &corev1.PodList{}
				u.List(pods, client.MatchingLabels{"etcd_cluster": "db"})
				for _, pod := range pods.Items {
					if pod.Annotations["etcd.opcrew.io/serial"] == "1" {
						u.Delete(pod.Name, &corev1.Pod{})
					}
				}
			},
			Until: etcdReady,
		},
		{
			Name:  "put it to sleep",
			Do:    func(u *faults.User) { u.Patch("db", &etcdv1beta2.EtcdCluster{}, `{"spec":{"hibernate":true}}`) },
			Until: etcdAsleep,
		},
		editEtcd("wake it", `{"hibernate":false}`),
	},
}

func etcdReported(v faults.View, reason string) (*etcdv1beta2.EtcdCluster, error) {
	c := &etcdv1beta2.EtcdCluster{}
	if err := v.Get("db", c); err != nil {
		return nil, err
	}
	for _, cond := range c.Status.Conditions {
		if cond.Type == "Ready" && cond.Status == "True" && cond.Reason == reason && c.Status.ObservedGeneration == c.Generation {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the status is %+v", c.Status)
}

func etcdReady(v faults.View) error {
	c, err := etcdReported(v, etcdv1beta2.ReasonAllMembersReady)
	if err != nil {
		return err
	}
	return membersServe(v, c)
}

func etcdAsleep(v faults.View) error {
	if _, err := etcdReported(v, etcdv1beta2.ReasonHibernating); err != nil {
		return err
	}
	if n := len(etcdPods(v)); n > 0 {
		return fmt.Errorf("%d pods still exist", n)
	}
	return nil
}

// membersServe checks that a ready EtcdCluster is truly ready. The desired number of pods must be ready with the
// desired version, and none of these pods may start with an empty volume.
func membersServe(v faults.View, object client.Object) error {
	c := object.(*etcdv1beta2.EtcdCluster)
	pods := etcdPods(v)
	want := int(c.Spec.Size)
	if c.Spec.Hibernate {
		return nil
	}
	if len(pods) != want {
		return fmt.Errorf("there are %d pods, expected %d", len(pods), want)
	}
	for _, pod := range pods {
		if pod.Annotations["etcd.version"] != c.Spec.Version || !strings.HasPrefix(pod.Annotations["etcd.opcrew.io/start"], "established ") {
			return fmt.Errorf("pod %s has version %s and start mode %q", pod.Name, pod.Annotations["etcd.version"], pod.Annotations["etcd.opcrew.io/start"])
		}
	}
	return nil
}

func etcdPods(v faults.View) []corev1.Pod {
	pods := &corev1.PodList{}
	if v.List(pods) != nil {
		return nil
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}

// oneHistory holds if the simulated etcd has detected no lost or diverging data. All cases share the simulated etcd, so
// only violations that name a pod of this case count.
func oneHistory(_, after faults.View, e faults.Event) error {
	for _, bad := range stores.Violations() {
		for _, pod := range etcdPods(after) {
			if e.Key.Kind == "Pod" && strings.Contains(bad, pod.Name) {
				return errors.New(bad)
			}
		}
	}
	return nil
}

func oneCluster(before, after faults.View, e faults.Event) error {
	old, now := &etcdv1beta2.EtcdCluster{}, &etcdv1beta2.EtcdCluster{}
	if e.Key.Kind != "EtcdCluster" || !sees(before, "db", old) || !sees(after, "db", now) || old.UID != now.UID {
		return nil
	}
	restored := old.Status.Lineage != now.Status.Lineage && now.Status.Restore != nil && now.Status.Restore.UID == now.Status.Lineage
	if old.Status.ClusterID != "" && old.Status.ClusterID != now.Status.ClusterID && !restored {
		return fmt.Errorf("the cluster ID changed from %q to %q", old.Status.ClusterID, now.Status.ClusterID)
	}
	return nil
}

// quorumOfPods holds if the operator never deletes a pod that the cluster needs for its quorum.
func quorumOfPods(before, after faults.View, e faults.Event) error {
	c := &etcdv1beta2.EtcdCluster{}
	if e.Key.Kind != "Pod" || !sees(after, "db", c) || c.DeletionTimestamp != nil || c.Spec.Hibernate || c.Status.ClusterID == "" {
		return nil
	}
	voters := 0
	for _, m := range c.Status.Membership {
		if !m.Learner {
			voters++
		}
	}
	was, is := len(etcdPods(before)), len(etcdPods(after))
	if is < was && voters > 2 && is < voters/2+1 {
		return fmt.Errorf("only %d pods remain of %d voters", is, voters)
	}
	return nil
}

// clientsComeLate holds if the Service selects no member before the cluster is formed. Until then, the operator may
// delete the members and form the cluster again, which would lose data that clients had written.
func clientsComeLate(_, after faults.View, e faults.Event) error {
	c := &etcdv1beta2.EtcdCluster{}
	if e.Key.Kind != "Pod" || !sees(after, "db", c) || c.Status.ClusterID != "" {
		return nil
	}
	for _, pod := range etcdPods(after) {
		if pod.Labels["etcd.opcrew.io/voter"] == "true" && metav1.IsControlledBy(&pod, c) {
			return fmt.Errorf("clients may connect to %s", pod.Name)
		}
	}
	return nil
}

// maskEtcd removes values that depend on the UID or on the number of attempts: member names, member IDs, and texts that
// contain them. It also removes the version with which the cluster was formed: if the version in the spec changes
// before the operator has seen the first one, the operator forms the cluster with the second one.
func maskEtcd(object *unstructured.Unstructured) {
	remove := func(fields ...string) { unstructured.RemoveNestedField(object.Object, fields...) }
	switch object.GetKind() {
	case "EtcdCluster":
		for _, field := range []string{"clusterID", "members", "membership", "serial", "conditions", "lineage", "restore", "quorumLoss", "decided", "formerClusterIDs", "formedWith"} {
			remove("status", field)
		}
	case "Pod", "PersistentVolumeClaim":
		object.Object = map[string]any{} // the functions Truth and Invariants of this Subject check these objects
	case "PodDisruptionBudget":
		remove("status")
	case "Service":
		remove("spec", "clusterIP")
		remove("spec", "clusterIPs")
	}
}

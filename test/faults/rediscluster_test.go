// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/redispods"
)

// rings simulates Redis: each simulated pod is a server in memory.
var rings = &redissim.World{SyncLooks: 1, JobLooks: 3}

func TestRedisEnterpriseCluster(t *testing.T) {
	var kubelets *redispods.Kubelets
	wipe := func(pods ...*corev1.Pod) { kubelets.Wipe(t.Context(), pods...) }
	faults.Attack(t, faults.Subject{
		Kind:       redisenterprisecluster.KindWith(rings.Dial),
		Namespaced: true,
		Nodes:      5,
		Primary:    &redisv1alpha1.RedisEnterpriseCluster{},
		Others: []client.Object{
			&appsv1.StatefulSet{}, &corev1.Pod{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.Secret{},
			&corev1.PersistentVolumeClaim{}, &policyv1.PodDisruptionBudget{},
		},
		// The number of claims and pods that a StatefulSet creates differs between runs.
		Uncounted: []string{"Pod", "PersistentVolumeClaim"},
		Server:    func(t *testing.T, env *testenv.Env) { kubelets = redispods.Follow(t, env.Config, env.Client, rings) },
		Truth:     podsAreInTheRing,
		Invariants: []faults.Invariant{
			{Name: "servers receive no request that could lose data", Check: nothingForbidden},
			{Name: "pods are restarted one after the other", Check: oneRestart},
			{Name: "no claim shrinks", Check: noClaimShrinks},
			{Name: "the password in the users' Secret stays valid", Check: redisPasswordStays},
		},
		Mask:      maskRedis,
		Workloads: []faults.Workload{redisForming, redisScaling, redisScalingByJobs, redisChanging, redisSleeping, redisGrowing, redisPassword, redisLosing(wipe)},
		Patience:  30 * time.Second,
	})
}

const redisManifest = `
apiVersion: app.redislabs.com/v1alpha1
kind: RedisEnterpriseCluster
metadata: {name: rec}
spec:
  nodes: %d
  redisEnterpriseImageSpec: {repository: %s, versionTag: %s}
  redisEnterpriseNodeResources: {limits: {cpu: 10m, memory: 256Mi}, requests: {cpu: 10m, memory: 256Mi}}
  %s
`

func createRedis(nodes int, more string) faults.Step {
	return createServers("opcrew/redis", "7.0.15", nodes, more)
}

func createServers(repository, tag string, nodes int, more string) faults.Step {
	return faults.Step{
		Name:     fmt.Sprintf("create a cluster of %d", nodes),
		Do:       func(u *faults.User) { u.Apply(fmt.Sprintf(redisManifest, nodes, repository, tag, more)) },
		Until:    redisReady,
		Patience: 2 * time.Minute, // the operator may crash after each step that it takes in the servers
	}
}

func editRedis(name, spec string) faults.Step {
	return faults.Step{
		Name:     name,
		Do:       func(u *faults.User) { u.Patch("rec", &redisv1alpha1.RedisEnterpriseCluster{}, `{"spec":`+spec+`}`) },
		Until:    redisReady,
		Patience: 90 * time.Second, // pods that leave the cluster redirect clients for a while
	}
}

// writeRedis is a step in which a client writes a value. Each later step checks that the value still exists.
var writeRedis = faults.Step{
	Name: "a client writes",
	Do: func(u *faults.User) {
		list := &redisv1alpha1.RedisEnterpriseClusterList{}
		u.List(list)
		for _, c := range list.Items {
			_ = rings.Write(redispods.Cluster(c.Namespace, c.Name), 100, 1000) // may fail if the cluster is not ready
		}
	},
	Until: redisReady,
}

// redisForming creates a cluster without volumes, and deletes one of its pods.
var redisForming = faults.Workload{
	Name: "forming",
	Steps: []faults.Step{
		createRedis(3, ""),
		writeRedis,
		{
			Name:     "a user deletes a pod",
			Do:       func(u *faults.User) { u.Delete("rec-1", &corev1.Pod{}) },
			Until:    redisReady,
			Patience: time.Minute,
		},
	},
}

var redisScaling = faults.Workload{
	Name: "scaling",
	Steps: []faults.Step{
		createRedis(3, ""),
		writeRedis,
		editRedis("grow to four", `{"nodes":4}`),
		editRedis("shrink to three", `{"nodes":3}`),
	},
}

// redisScalingByJobs adds and removes servers of a Valkey version whose servers can migrate slots by themselves.
var redisScalingByJobs = faults.Workload{
	Name: "scaling-by-jobs",
	Steps: []faults.Step{
		createServers("opcrew/valkey", "9.1.2", 3, ""),
		writeRedis,
		editRedis("grow to four", `{"nodes":4}`),
		editRedis("shrink to three", `{"nodes":3}`),
	},
}

// redisChanging changes the version, so that all pods restart. Then it changes a setting, which the operator sets in
// running servers.
var redisChanging = faults.Workload{
	Name: "changing",
	Steps: []faults.Step{
		createRedis(3, ""),
		writeRedis,
		editRedis("raise the version", `{"redisEnterpriseImageSpec":{"versionTag":"8.0.2"}}`),
		editRedis("change a setting", `{"redisConfig":{"maxmemory-policy":"allkeys-lru"}}`),
	},
}

var redisSleeping = faults.Workload{
	Name: "sleeping",
	Steps: []faults.Step{
		createRedis(3, "persistentSpec: {enabled: true, volumeSize: 1Gi}"),
		writeRedis,
		{
			Name: "put it to sleep",
			Do: func(u *faults.User) {
				u.Patch("rec", &redisv1alpha1.RedisEnterpriseCluster{}, `{"spec":{"hibernate":true}}`)
			},
			Until: redisAsleep,
		},
		editRedis("wake it", `{"hibernate":false}`),
	},
}

// redisGrowing enlarges volumes. The test server has no storage driver, so the workload itself sets the new size in the
// status of the claims.
var redisGrowing = faults.Workload{
	Name: "growing",
	World: func(w *faults.World) {
		w.Apply(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: elastic}
provisioner: ` + testenv.VolumeProvisioner + `
allowVolumeExpansion: true
`)
	},
	Steps: []faults.Step{
		createRedis(3, "persistentSpec: {storageClassName: elastic, volumeSize: 1Gi, enablePersistentVolumeResize: true}"),
		writeRedis,
		{
			Name: "give it larger volumes",
			Do: func(u *faults.User) {
				u.Patch("rec", &redisv1alpha1.RedisEnterpriseCluster{}, `{"spec":{"persistentSpec":{"volumeSize":"2Gi"}}}`)
			},
			Until:    redisAsksForMore,
			Patience: time.Minute,
		},
		{
			Name: "its volumes are larger",
			Do: func(u *faults.User) {
				for i := range 3 {
					u.PatchStatus(fmt.Sprint("redis-enterprise-storage-rec-", i), &corev1.PersistentVolumeClaim{}, `{"status":{"capacity":{"storage":"2Gi"}}}`)
				}
			},
			Until:    redisReady,
			Patience: time.Minute,
		},
	},
}

// redisAsksForMore holds if all claims and the StatefulSet's claim template request the size in the spec, and if the
// status reports that volumes are being enlarged.
func redisAsksForMore(v faults.View) error {
	c, set, claims := &redisv1alpha1.RedisEnterpriseCluster{}, &appsv1.StatefulSet{}, &corev1.PersistentVolumeClaimList{}
	if err := errors.Join(v.Get("rec", c), v.Get("rec", set), v.List(claims)); err != nil {
		return err
	}
	if reported := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionUpToDate); reported == nil || reported.Reason != redisv1alpha1.ReasonVolumesGrowing {
		return fmt.Errorf("the status does not report that volumes grow: %+v", reported)
	}
	// Wait for this condition too: the operator may report up to three seconds late that the StatefulSet exists again.
	if !meta.IsStatusConditionTrue(c.Status.Conditions, redisv1alpha1.ConditionChildrenReady) {
		return errors.New("the status does not report that the StatefulSet is recreated")
	}
	if len(claims.Items) != 3 {
		return fmt.Errorf("there are %d claims", len(claims.Items))
	}
	for _, claim := range append(claims.Items, set.Spec.VolumeClaimTemplates...) {
		if asks := claim.Spec.Resources.Requests.Storage().String(); asks != "2Gi" {
			return fmt.Errorf("claim %s requests %s", claim.Name, asks)
		}
	}
	if set.DeletionTimestamp != nil || set.Status.Replicas != 3 {
		return fmt.Errorf("the StatefulSet has %d pods", set.Status.Replicas)
	}
	return nil
}

var redisPassword = faults.Workload{
	Name: "password",
	Steps: []faults.Step{
		createRedis(3, ""),
		writeRedis,
		changePassword("first"),
		changePassword("second"),
	},
}

// chosen is an annotation that records the password that the user set in the Secret. If the operator recreates the
// Secret after the cluster was deleted, the Secret has no such annotation.
const chosen = "example.com/password"

func changePassword(to string) faults.Step {
	return faults.Step{
		Name: "change the password to the " + to,
		Do: func(u *faults.User) {
			u.Patch("rec", &corev1.Secret{}, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}},"stringData":{"password":%q}}`, chosen, to, to))
		},
		Until: serversLetIn,
	}
}

func redisReported(v faults.View, reason string) (*redisv1alpha1.RedisEnterpriseCluster, error) {
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	if err := v.Get("rec", c); err != nil {
		return nil, err
	}
	for _, cond := range c.Status.Conditions {
		if cond.Type == redisv1alpha1.ConditionReady && cond.Status == "True" && cond.Reason == reason && c.Status.ObservedGeneration == c.Generation {
			return c, nil
		}
	}
	return nil, fmt.Errorf("the status is %+v", c.Status)
}

// redisReady holds if Ready is True, and the servers confirm that shortly afterwards. Each slot must have one primary
// and one replica in another pod, and every value that clients wrote must exist.
func redisReady(v faults.View) error {
	c, err := redisReported(v, redisv1alpha1.ReasonAllPodsReady)
	if err != nil {
		return err
	}
	if err := podsAreInTheRing(v, c); err != nil {
		return err
	}
	return soon(func() error { return rings.Whole(redispods.Cluster(c.Namespace, c.Name), int(*c.Spec.Nodes)) })
}

// soon repeats check for a while, because changes inside the servers cause no watch events.
func soon(check func() error) (err error) {
	for range 50 {
		if err = check(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

func redisAsleep(v faults.View) error {
	if _, err := redisReported(v, redisv1alpha1.ReasonHibernating); err != nil {
		return err
	}
	if n := len(redisPods(v)); n > 0 {
		return fmt.Errorf("%d pods still exist", n)
	}
	return nil
}

// serversLetIn holds if all servers accept the password in the Secret. If the user set a password, the Secret must
// contain that one.
func serversLetIn(v faults.View) error {
	secret := &corev1.Secret{}
	if err := v.Get("rec", secret); err != nil {
		return err
	}
	password := string(secret.Data["password"])
	if wanted, has := secret.Annotations[chosen]; has && password != wanted {
		return fmt.Errorf("the Secret has the password %q, but the user set %q", password, wanted)
	}
	for _, pod := range redisPods(v) {
		for _, port := range []string{":6379", ":6380"} {
			if err := soon(func() error {
				return rings.Login(pod.Status.PodIP+port, redisv1alpha1.DefaultUsername, password)
			}); err != nil {
				return err
			}
		}
	}
	return redisReady(v)
}

// podsAreInTheRing checks that a ready cluster is truly ready. The desired number of pods must run the desired version,
// and the server in each pod must be a primary or replica of the Redis cluster.
func podsAreInTheRing(v faults.View, object client.Object) error {
	c := object.(*redisv1alpha1.RedisEnterpriseCluster)
	if c.Spec.Hibernate {
		return nil
	}
	pods := redisPods(v)
	if len(pods) != int(*c.Spec.Nodes) {
		return fmt.Errorf("there are %d pods, expected %d", len(pods), *c.Spec.Nodes)
	}
	image := c.Spec.RedisEnterpriseImageSpec.Repository + ":" + c.Spec.RedisEnterpriseImageSpec.VersionTag
	for _, pod := range pods {
		if runs := pod.Spec.Containers[0].Image; runs != image || !podReady(pod) {
			return fmt.Errorf("pod %s runs %s, expected %s; ready: %v", pod.Name, runs, image, podReady(pod))
		}
	}
	return nil
}

func podReady(pod corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func redisPods(v faults.View) []corev1.Pod {
	pods := &corev1.PodList{}
	if v.List(pods) != nil {
		return nil
	}
	return pods.Items
}

// nothingForbidden holds if the simulated servers have received no request that could lose data.
func nothingForbidden(_, _ faults.View, e faults.Event) error {
	if bad := rings.Violations(redispods.Cluster(e.Key.Namespace, "rec")); len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

// oneRestart holds if the operator never deletes a pod while another pod is missing or terminating.
func oneRestart(before, after faults.View, e faults.Event) error {
	set := &appsv1.StatefulSet{}
	if e.Key.Kind != "Pod" || e.Write == "" || !sees(after, "rec", set) || set.DeletionTimestamp != nil {
		return nil
	}
	there := 0
	for _, pod := range redisPods(before) {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			there++
		}
	}
	if there < int(*set.Spec.Replicas) {
		return fmt.Errorf("only %d of %d pods run, but %s is restarted", there, *set.Spec.Replicas, e.Key.Name)
	}
	return nil
}

// redisPasswordStays holds if the operator never makes servers refuse the password in the users' Secret after they have
// accepted it.
func redisPasswordStays(before, after faults.View, e faults.Event) error {
	users, was, is := &corev1.Secret{}, &corev1.Secret{}, &corev1.Secret{}
	if e.Key.Kind != "Secret" || e.Write == "" || !sees(after, "rec", users) || !sees(before, "rec-system", was) || !sees(after, "rec-system", is) {
		return nil
	}
	hash := redispod.Hash(string(users.Data["password"]))
	if taken := func(s *corev1.Secret) bool { return strings.Contains(string(s.Data["accepted"]), hash) }; was.UID == is.UID && taken(was) && !taken(is) {
		return fmt.Errorf("servers accept the password hashes %q, but the users' Secret has %s", is.Data["accepted"], hash)
	}
	return nil
}

// maskRedis removes values that differ between runs, because they are random or depend on timing. Examples are the
// slots that have moved and the names of a StatefulSet's revisions.
func maskRedis(object *unstructured.Unstructured) {
	remove := func(fields ...string) { unstructured.RemoveNestedField(object.Object, fields...) }
	switch object.GetKind() {
	case "RedisEnterpriseCluster":
		for _, field := range []string{"slots", "conditions", "move"} {
			remove("status", field)
		}
		remove("metadata", "annotations", redisv1alpha1.AcceptDataLossAnnotation) // contains a time
	case "Secret":
		remove("data")
	case "StatefulSet":
		remove("status")
		remove("metadata", "annotations", "opcrew.io/pinned")
	case "Pod", "PersistentVolumeClaim":
		object.Object = map[string]any{} // the functions Truth and Invariants of this Subject check these objects
	case "PodDisruptionBudget":
		remove("status")
	case "Service":
		remove("spec", "clusterIP")
		remove("spec", "clusterIPs")
	}
}

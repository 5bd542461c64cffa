// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	redisName  = "example-redis"
	redisImage = "opcrew/redis:7.0"
)

// redisTest is a namespace with a RedisEnterpriseCluster.
type redisTest struct {
	*cluster
	ns string
}

// smallRedis is the part of a spec that sets small resources for pods. Most tests use it.
const smallRedis = "redisEnterpriseNodeResources: {limits: {cpu: 400m, memory: 128Mi}, requests: {cpu: 40m, memory: 128Mi}}\n"

// newRedisTest creates a small Redis cluster and waits until it is ready. more is YAML to add to the spec.
func newRedisTest(t *testing.T, more string) *redisTest {
	t.Helper()
	return newRedisTestOf(t, "redis", redisImage, smallRedis+more)
}

// newRedisTestOf creates a Redis cluster with the given image. If the nodes do not have the image, the recipe builds
// it.
func newRedisTestOf(t *testing.T, recipe, image, more string) *redisTest {
	t.Helper()
	if err := redisv1alpha1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	c := connect(t)
	if !c.holds(t, image) {
		c.debian(t, recipe)
	}
	c.removePools(t)
	ns := &corev1.Namespace{}
	ns.GenerateName = "redis-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	r := &redisTest{c, ns.Name}
	object := &redisv1alpha1.RedisEnterpriseCluster{}
	repository, tag, _ := strings.Cut(image, ":")
	spec := fmt.Sprintf("redisEnterpriseImageSpec: {repository: %s, versionTag: %q, imagePullPolicy: Never}\n", repository, tag) + more
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	object.Name, object.Namespace = redisName, r.ns
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r.await(t, 3)
	t.Logf("Ready after %s", time.Since(began).Round(100*time.Millisecond))
	return r
}

func (r *redisTest) get(t *testing.T) *redisv1alpha1.RedisEnterpriseCluster {
	t.Helper()
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: r.ns, Name: redisName}, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// patch changes the spec by a JSON merge patch.
func (r *redisTest) patch(t *testing.T, spec string) {
	t.Helper()
	r.kubectl(t, "patch", "-n", r.ns, "rec/"+redisName, "--type=merge", "-p", `{"spec":`+spec+`}`)
}

// await waits until the cluster is Ready for the current spec with the given number of pods.
func (r *redisTest) await(t *testing.T, nodes int32) *redisv1alpha1.RedisEnterpriseCluster {
	t.Helper()
	return r.awaitReason(t, redisv1alpha1.ReasonAllPodsReady, nodes)
}

func (r *redisTest) awaitReason(t *testing.T, reason string, nodes int32) (c *redisv1alpha1.RedisEnterpriseCluster) {
	t.Helper()
	eventually.True(t, 5*time.Minute, fmt.Sprintf("Ready is True with reason %s and %d pods", reason, nodes), func() error {
		c = r.get(t)
		ready := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.Reason != reason || c.Status.Nodes != nodes || c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("the cluster has %d pods, and Ready is %+v", c.Status.Nodes, ready)
		}
		return nil
	})
	return c
}

// awaitUnready waits until the operator reports a problem, so that Ready is not True.
func (r *redisTest) awaitUnready(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, "Ready is not True", func() error {
		if meta.IsStatusConditionTrue(r.get(t).Status.Conditions, redisv1alpha1.ConditionReady) {
			return fmt.Errorf("Ready is True")
		}
		return nil
	})
}

func (r *redisTest) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	list := &corev1.PodList{}
	if err := r.List(t.Context(), list, client.InNamespace(r.ns), client.MatchingLabels{redisv1alpha1.ClusterLabel: redisName}); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (r *redisTest) password(t *testing.T) string {
	t.Helper()
	secret := &corev1.Secret{}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: r.ns, Name: redisName}, secret); err != nil {
		t.Fatal(err)
	}
	return string(secret.Data["password"])
}

// wantRing checks that the first server of every pod is a primary with slots, and that the second server is a replica.
// The numbers of slots per primary may differ by at most one.
func (r *redisTest) wantRing(t *testing.T, c *redisv1alpha1.RedisEnterpriseCluster, nodes int) {
	t.Helper()
	if len(c.Status.Slots) != 2*nodes || c.Status.Shards != int32(nodes) {
		t.Fatalf("expected %d servers and %d shards, got %+v", 2*nodes, nodes, c.Status)
	}
	for _, s := range c.Status.Slots {
		want := redisv1alpha1.Primary
		if s.Place == redisv1alpha1.Guest {
			want = redisv1alpha1.Replica
		}
		if s.Role != want || s.Slots == "" {
			t.Errorf("expected the %s of %s to be a %s of slots, got %+v", s.Place, s.Pod, want, s)
		}
	}
}

func TestSmokeARedisClusterServesAndReplacesADeletedPod(t *testing.T) {
	r := newRedisTest(t, "")
	before := r.get(t)
	r.wantRing(t, before, 3)
	w := r.confirmed(t)
	time.Sleep(2 * time.Second)
	r.kubectl(t, "delete", "pod", "-n", r.ns, redisName+"-0", "--wait=false")
	r.awaitUnready(t)
	after := r.await(t, 3)
	w.wantAll(t)
	r.wantRing(t, after, 3)
	for i, s := range after.Status.Slots {
		if s != before.Status.Slots[i] {
			t.Errorf("expected the same servers as before, got %+v instead of %+v", s, before.Status.Slots[i])
		}
	}
}

func TestARedisClusterIsScaledWithoutClientsNoticing(t *testing.T) {
	r := newRedisTest(t, "")
	w := r.plain(t)
	for _, nodes := range []int32{5, 3} {
		r.kubectl(t, "scale", "-n", r.ns, "rec/"+redisName, fmt.Sprint("--replicas=", nodes))
		r.wantRing(t, r.await(t, nodes), int(nodes))
	}
	w.wantAll(t)
	w.wantNoErrors(t)
}

func TestARedisClusterIsChangedPodByPodWithoutClientsNoticing(t *testing.T) {
	r := newRedisTest(t, "persistentSpec: {enabled: true, volumeSize: 64Mi}")
	uids := map[string]bool{}
	for _, pod := range r.pods(t) {
		uids[string(pod.UID)] = true
	}
	w := r.plain(t)
	r.patch(t, `{"podAnnotations":{"example.com/changed":"yes"}}`)
	r.wantRing(t, r.await(t, 3), 3)
	w.wantAll(t)
	w.wantNoErrors(t)
	for _, pod := range r.pods(t) {
		if uids[string(pod.UID)] || pod.Annotations["example.com/changed"] != "yes" {
			t.Errorf("expected pod %s to be recreated with the annotation", pod.Name)
		}
	}
}

func TestThePasswordOfARedisClusterChangesWithoutClientsNoticing(t *testing.T) {
	r := newRedisTest(t, "")
	writes := r.client(t)
	w := r.plainBy(t, writes)
	old := r.password(t)
	r.kubectl(t, "patch", "-n", r.ns, "secret/"+redisName, "--type=merge", "-p", `{"stringData":{"password":"quite-another"}}`)
	eventually.True(t, time.Minute, "the new password is valid", func() error { return r.client(t).Ping(t.Context()).Err() })
	writes.use("quite-another")
	eventually.True(t, 3*time.Minute, "the server refuses the old password", func() error {
		c := r.client(t)
		c.use(old)
		if err := c.Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
			return errors.Join(errors.New("the server accepts the password, or refuses it for another reason"), err)
		}
		return nil
	})
	w.wantAll(t)
	w.wantNoErrors(t)
	r.await(t, 3)
}

func TestARedisClusterComesBackWhenAllItsPodsWereDeleted(t *testing.T) {
	r := newRedisTest(t, "persistentSpec: {enabled: true, volumeSize: 64Mi}")
	w := r.confirmed(t)
	time.Sleep(3 * time.Second) // appendfsync everysec writes to disk once per second
	w.stop()
	r.kubectl(t, "delete", "pod", "-n", r.ns, "-l", redisv1alpha1.ClusterLabel+"="+redisName)
	r.awaitUnready(t)
	r.wantRing(t, r.await(t, 3), 3)
	w.wantAll(t)
}

func TestARedisClusterHibernatesAndWakesWithItsData(t *testing.T) {
	r := newRedisTest(t, "persistentSpec: {enabled: true, volumeSize: 64Mi}")
	w := r.confirmed(t)
	time.Sleep(3 * time.Second)
	w.stop()
	r.patch(t, `{"hibernate":true}`)
	r.awaitReason(t, redisv1alpha1.ReasonHibernating, 3)
	if pods := r.pods(t); len(pods) > 0 {
		t.Errorf("expected no pods while it hibernates, got %d", len(pods))
	}
	r.patch(t, `{"hibernate":false}`)
	r.wantRing(t, r.await(t, 3), 3)
	w.wantAll(t)
}

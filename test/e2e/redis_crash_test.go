// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const persistentRedis = "persistentSpec: {enabled: true, volumeSize: 64Mi}"

func TestAPodOfARedisClusterIsDeletedWithoutClientsNoticing(t *testing.T) {
	r := newRedisTest(t, "")
	o, w := r.observe(t), r.plain(t)
	for _, pod := range r.pods(t) {
		r.kubectl(t, "delete", "pod", "-n", r.ns, pod.Name)
		r.wantRing(t, r.await(t, 3), 3)
	}
	w.wantAll(t)
	w.wantNoErrors(t)
	o.wantOneLeader(t)
}

// victim returns a pod of the Redis cluster whose node does not run the leader of the operator, so that a test can
// crash the node.
func (r *redisTest) victim(t *testing.T) corev1.Pod {
	t.Helper()
	leader := &corev1.Pod{}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: r.leader(t, dataLayer)}, leader); err != nil {
		t.Fatal(err)
	}
	pods := r.pods(t)
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName != leader.Spec.NodeName })
	if i < 0 {
		t.Fatalf("all pods run on %s, but should be spread over the nodes", leader.Spec.NodeName)
	}
	return pods[i]
}

// during starts clients that write to the Redis cluster, calls happen, and then checks that no acknowledged write is
// lost.
func (r *redisTest) during(t *testing.T, what string, happen func()) {
	t.Helper()
	o, w := r.observe(t), r.confirmed(t)
	time.Sleep(2 * time.Second)
	happen()
	r.wantRing(t, r.await(t, 3), 3)
	w.stop()
	w.wantAll(t)
	t.Logf("during %s, no client waited longer than %s for a write", what, w.longest().Round(10*time.Millisecond))
	o.wantOneLeader(t)
}

func TestARedisClusterGoesOnWhenAServerIsKilled(t *testing.T) {
	r := newRedisTest(t, persistentRedis)
	pod := r.pods(t)[1]
	r.during(t, "the end of a primary", func() {
		r.killServer(t, pod, redisv1alpha1.HomePort)
		r.awaitUnready(t)
	})
}

// killServer kills the Redis server in a pod with SIGKILL. It finds the process by the process title and the pod's
// cgroup.
func (r *redisTest) killServer(t *testing.T, pod corev1.Pod, port int32) {
	t.Helper()
	const script = `for p in /proc/[0-9]*; do
  grep -qs ':%d .cluster.' $p/cmdline && grep -Eqs '%s|%s' $p/cgroup && kill -KILL ${p#/proc/} && echo killed
done; true`
	uid := string(pod.UID)
	out := r.run(t, "localcluster", "node", "exec", pod.Spec.NodeName, "--", "sh", "-c", fmt.Sprintf(script, port, uid, strings.ReplaceAll(uid, "-", "_")))
	if strings.TrimSpace(out) != "killed" {
		t.Fatalf("expected one server of %s at port %d, its node says %q", pod.Name, port, out)
	}
}

func TestARedisClusterGoesOnWhenANodeCrashes(t *testing.T) {
	r := newRedisTest(t, persistentRedis)
	pod := r.victim(t)
	r.during(t, "the crash of a node", func() {
		r.crash(t, pod.Spec.NodeName)
		r.awaitUnready(t)
		r.awaitServed(t)
		r.start(t, pod.Spec.NodeName)
	})
}

func TestARedisClusterGoesOnWhenANodeIsCutOff(t *testing.T) {
	r := newRedisTest(t, persistentRedis)
	pod := r.victim(t)
	r.during(t, "a cut link", func() {
		r.run(t, "localcluster", "node", "cut", pod.Spec.NodeName)
		heal := func() { r.run(t, "localcluster", "node", "heal", pod.Spec.NodeName) }
		t.Cleanup(heal) // reconnecting a connected node is no error
		r.awaitUnready(t)
		r.awaitServed(t)
		heal()
	})
}

// awaitServed waits until the status reports that every slot has a primary.
func (r *redisTest) awaitServed(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, "every slot has a primary", func() error {
		for _, c := range r.get(t).Status.Conditions {
			if c.Type == redisv1alpha1.ConditionAvailable && c.Status != "True" {
				return fmt.Errorf("%s: %s", c.Reason, c.Message)
			}
		}
		return nil
	})
}

// step returns a text that changes with each step in which the operator changes pods or slots.
func (r *redisTest) step(ctx context.Context) (string, error) {
	list := &corev1.PodList{}
	if err := r.List(ctx, list, client.InNamespace(r.ns), client.MatchingLabels{redisv1alpha1.ClusterLabel: redisName}); err != nil {
		return "", err
	}
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	if err := r.Get(ctx, client.ObjectKey{Namespace: r.ns, Name: redisName}, c); err != nil {
		return "", err
	}
	out := []string{fmt.Sprint(c.Status.Slots)}
	for _, p := range list.Items {
		out = append(out, fmt.Sprint(p.Name, p.UID, p.DeletionTimestamp != nil))
	}
	return strings.Join(out, " "), nil
}

func TestAnOperatorKilledAtAnyStepOfARedisClusterLosesNothing(t *testing.T) {
	r := newRedisTest(t, persistentRedis)
	o, w := r.observe(t), r.plain(t)
	for _, nodes := range []int32{5, 3} {
		stop := r.killAtSteps(t, dataLayer, r.step)
		r.kubectl(t, "scale", "-n", r.ns, "rec/"+redisName, fmt.Sprint("--replicas=", nodes))
		r.settle(t, stop, fmt.Sprint("scaling to ", nodes), nodes)
	}
	stop := r.killAtSteps(t, dataLayer, r.step)
	r.patch(t, `{"podAnnotations":{"example.com/changed":"yes"}}`)
	r.settle(t, stop, "a rolling change", 3)
	w.wantAll(t)
	w.wantNoErrors(t)
	o.wantOneLeader(t)
}

// settle waits up to a minute while the operator is killed again and again. Then it stops the kills and waits until the
// change is complete.
func (r *redisTest) settle(t *testing.T, stop func() int, what string, nodes int32) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		c := r.get(t)
		ready := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionReady)
		if ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == c.Generation && c.Status.Nodes == nodes {
			break
		}
	}
	t.Logf("during %s, the operator was killed %d times", what, stop())
	r.wantRing(t, r.await(t, nodes), int(nodes))
	r.waitOperator(t, dataLayer)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

var (
	redisTimesKeys  = flag.Int("redis.keys", 10_000, "how many keys a cluster has that is scaled")
	redisTimesBytes = flag.Int("redis.bytes", 100, "how many bytes the value of a key has")
	redisTimesPods  = flag.String("redis.memory", "512Mi", "the memory limit of a pod: room for four times what a primary of three has")
	redisTimesOf    = flag.String("redis.of", "", "the one server to measure, such as valkey9; all by default")
)

// redisServer is a kind of server, such as Redis or Valkey, whose scaling the test measures.
type redisServer struct {
	recipe, image, cli string
	// goal is the time limit for scaling up or down on an idle machine with 10000 small keys. It includes the start of
	// pods.
	goal time.Duration
}

func redisServers() []redisServer {
	return []redisServer{
		{"redis", "opcrew/redis:7.0", "redis-cli", 20 * time.Second},
		{"valkey", "opcrew/valkey:8.1", "valkey-cli", 20 * time.Second},
		{"valkey9", "opcrew/valkey:9.1", "valkey-cli", 12 * time.Second},
	}
}

// TestTimesOfScalingARedisClusterBesideItsCLI scales pods with volumes from 3 to 5 and back while a client writes. Then
// it moves the same slots with redis-cli or valkey-cli. It only prints the times, as they depend on the machine's load.
// It fails if a write is lost.
func TestTimesOfScalingARedisClusterBesideItsCLI(t *testing.T) {
	all := redisServers()
	isChosen := func(s redisServer) bool { return s.recipe == *redisTimesOf }
	if *redisTimesOf != "" && !slices.ContainsFunc(all, isChosen) {
		t.Fatalf("-redis.of=%s: there is no such server; use redis, valkey or valkey9", *redisTimesOf)
	}
	for _, server := range all {
		if *redisTimesOf != "" && !isChosen(server) {
			continue
		}
		t.Run(server.recipe, func(t *testing.T) { server.measure(t) })
	}
}

func (s redisServer) measure(t *testing.T) {
	r := newRedisTestOf(t, s.recipe, s.image, "redisEnterpriseNodeResources: {limits: {cpu: \"1\", memory: "+*redisTimesPods+
		"}, requests: {cpu: 100m, memory: "+*redisTimesPods+"}}\npersistentSpec: {enabled: true, volumeSize: 4Gi}\n")
	r.fill(t)
	w := r.plain(t)
	up := r.scaled(t, 5)
	cliDown, cliUp := r.byCLI(t, s.cli)
	down := r.scaled(t, 3)
	w.wantAll(t)
	w.wantNoErrors(t)
	r.wantFilled(t)
	rate := func(took time.Duration) string {
		return fmt.Sprintf("%.1f MB/s", float64(*redisTimesKeys**redisTimesBytes)*2/5/1e6/took.Seconds())
	}
	fmt.Printf("\n| %s, %d keys of %d bytes | opcrew: all, goal | opcrew: its moves | %s rebalance | opcrew to it |\n|---|---|---|---|---|\n", s.image, *redisTimesKeys, *redisTimesBytes, s.cli)
	for _, row := range []struct {
		what   string
		opcrew redisTimes
		cli    time.Duration
	}{{"3 to 5 pods", up, cliUp}, {"5 to 3 pods", down, cliDown}} {
		fmt.Printf("| %s | %.1f s, %.0f s | %.1f s, %s | %.1f s, %s | %.2f |\n", row.what, row.opcrew.all.Seconds(), s.goal.Seconds(),
			row.opcrew.moving.Seconds(), rate(row.opcrew.moving), row.cli.Seconds(), rate(row.cli), row.opcrew.moving.Seconds()/row.cli.Seconds())
	}
	fmt.Println()
}

// redisTimes holds two times of one change of the number of pods: all is the time until the object is Ready, and moving
// is the part of it in which slots migrate.
type redisTimes struct{ all, moving time.Duration }

// scaled changes the number of pods, and returns the time until the change is complete.
func (r *redisTest) scaled(t *testing.T, nodes int32) (took redisTimes) {
	t.Helper()
	began := time.Now()
	var first, last time.Time
	r.patch(t, fmt.Sprintf(`{"nodes":%d}`, nodes))
	eventually.True(t, 15*time.Minute, fmt.Sprintf("Ready is True with %d pods", nodes), func() error {
		c := r.get(t)
		if meta.IsStatusConditionTrue(c.Status.Conditions, redisv1alpha1.ConditionMigrating) {
			if last = time.Now(); first.IsZero() {
				first = last
			}
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionReady)
		if ready == nil || ready.Reason != redisv1alpha1.ReasonAllPodsReady || c.Status.Nodes != nodes || c.Status.ObservedGeneration != c.Generation {
			return fmt.Errorf("the cluster has %d pods, and Ready is %+v", c.Status.Nodes, ready)
		}
		return nil
	})
	took = redisTimes{all: time.Since(began), moving: last.Sub(first)}
	t.Logf("scaling to %d pods took %s, of which moving slots took %s", nodes, took.all.Round(time.Millisecond), took.moving.Round(time.Millisecond))
	return took
}

// byCLI moves all slots of the last two of five pods to other pods and back, with redis-cli or valkey-cli. The operator
// is paused meanwhile. It returns the times of both moves.
func (r *redisTest) byCLI(t *testing.T, program string) (down, up time.Duration) {
	t.Helper()
	r.kubectl(t, "annotate", "-n", r.ns, "rec/"+redisName, "opcrew.io/paused=true")
	defer func() {
		r.kubectl(t, "annotate", "-n", r.ns, "rec/"+redisName, "opcrew.io/paused-")
		r.await(t, 5)
	}()
	weights := []string{"--cluster-weight"}
	for _, pod := range []string{redisName + "-3", redisName + "-4"} {
		id := strings.TrimSpace(r.cli(t, program, pod, "-p", fmt.Sprint(redisv1alpha1.HomePort), "CLUSTER", "MYID"))
		weights = append(weights, id+"=0")
	}
	down = r.rebalance(t, program, weights...)
	up = r.rebalance(t, program, "--cluster-use-empty-masters")
	return down, up
}

func (r *redisTest) rebalance(t *testing.T, program string, args ...string) time.Duration {
	t.Helper()
	// Give the tool the pod's IP and not localhost, because other pods send migrated keys to this address.
	pod := r.pods(t)[0]
	began := time.Now()
	r.cli(t, program, pod.Name, append([]string{"--cluster", "rebalance", fmt.Sprintf("%s:%d", pod.Status.PodIP, redisv1alpha1.HomePort)}, args...)...)
	took := time.Since(began)
	t.Logf("%s rebalance %s: %s", program, strings.Join(args, " "), took.Round(time.Millisecond))
	return took
}

// cli runs redis-cli or valkey-cli in a pod as the operator's Redis user, and returns the output.
func (r *redisTest) cli(t *testing.T, program, pod string, args ...string) string {
	t.Helper()
	secret := &corev1.Secret{}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: r.ns, Name: redisName + "-system"}, secret); err != nil {
		t.Fatal(err)
	}
	line := []string{"exec", "-n", r.ns, pod, "-c", "home", "--", program, "--user", redispod.System, "-a", string(secret.Data["password"]), "--no-auth-warning"}
	cmd := r.program("kubectl", append(line, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out[max(0, len(out)-2000):])
	}
	return string(out)
}

// fill writes the keys that the test moves. Their values are random, so that they cannot be compressed.
func (r *redisTest) fill(t *testing.T) {
	t.Helper()
	c := r.client(t)
	value := make([]byte, *redisTimesBytes)
	const together = 500
	for first := 0; first < *redisTimesKeys; first += together {
		pipe := c.Pipeline()
		for i := first; i < min(*redisTimesKeys, first+together); i++ {
			_, _ = rand.Read(value) // crypto/rand never returns an error
			pipe.Set(context.Background(), fmt.Sprint("filled:", i), string(value), 0)
		}
		if _, err := pipe.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// wantFilled checks that every key that fill has written still exists.
func (r *redisTest) wantFilled(t *testing.T) {
	t.Helper()
	c := r.client(t)
	missing := 0
	const together = 1000
	for first := 0; first < *redisTimesKeys; first += together {
		pipe := c.Pipeline()
		for i := first; i < min(*redisTimesKeys, first+together); i++ {
			pipe.StrLen(context.Background(), fmt.Sprint("filled:", i))
		}
		answers, err := pipe.Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range answers {
			if n, ok := answer.(interface{ Val() int64 }); !ok || n.Val() != int64(*redisTimesBytes) {
				missing++
			}
		}
	}
	if missing > 0 {
		t.Errorf("expected all of %d keys to be there, %d are not", *redisTimesKeys, missing)
	}
}

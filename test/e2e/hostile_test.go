// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	hostileRedis = "opcrew-test/hostile-redis"
	hostileEtcd  = "opcrew-test/hostile-etcd"
	// attackTime is how long the test measures the operator while the operator reads from hostile servers.
	attackTime = 90 * time.Second
	// memoryLimit is the memory limit of the operator's container in bytes (config/manager/deployment.yaml).
	memoryLimit = 512 << 20
)

// A tenant runs images whose servers send strings that do not fit into memory, endless lists, thousands of members, or
// bytes at a very slow rate. The operator must not run out of memory, and must still serve another tenant's cluster.
func TestServersThatLieHarmNeitherTheOperatorNorOtherClusters(t *testing.T) {
	r := newRedisTest(t, "")
	r.hostileImages(t)
	before := r.measure(t, "before", 20*time.Second)

	ns := r.hostileTenant(t)
	r.awaitVictims(t, ns)
	during := r.measure(t, "during", attackTime)
	r.wantServersRead(t, ns)

	r.kubectl(t, "delete", "namespace", ns, "--timeout=120s")
	after := r.measure(t, "after", 30*time.Second)

	if most := max(before.memory, during.memory, after.memory); most > memoryLimit*3/4 {
		t.Errorf("expected the operator to stay below three quarters of its memory limit, it used %d MiB", most>>20)
	}
	if before.restarts != after.restarts {
		t.Errorf("expected no restart of the operator, got %d", after.restarts-before.restarts)
	}
	if after.goroutines > before.goroutines+50 {
		t.Errorf("expected the goroutines for hostile servers to end with their clusters: %d before, %d after", before.goroutines, after.goroutines)
	}
}

// hostileImages builds images whose redis-server and etcd send wrong or endless responses, and loads them into the
// nodes.
func (c *cluster) hostileImages(t *testing.T) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hostilestore")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./test/e2e/hostilestore")
	build.Dir, build.Env = c.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the hostile server: %v\n%s", err, out)
	}
	for tag, path := range map[string]string{hostileRedis + ":7.0": "/usr/bin/redis-server", hostileEtcd + ":v3.6.8": "/usr/local/bin/etcd"} {
		tar := filepath.Join(t.TempDir(), "hostile.tar")
		c.run(t, "localcluster", "image", "build", "--tag", tag, "--binary", program+"="+path, "--entrypoint", path, "--user", "65532:65532", "--output", tar)
		c.run(t, "localcluster", "image", "load", tar)
	}
}

// hostileTenant creates a namespace with Redis and etcd clusters that run the hostile images, and returns its name.
func (c *cluster) hostileTenant(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{}
	ns.GenerateName = "hostile-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false", "--ignore-not-found") })
	var manifest strings.Builder
	for i := range 4 {
		fmt.Fprintf(&manifest, `---
apiVersion: app.redislabs.com/v1alpha1
kind: RedisEnterpriseCluster
metadata: {name: liar-%d, namespace: %s}
spec:
  nodes: 3
  redisEnterpriseImageSpec: {repository: %s, versionTag: "7.0", imagePullPolicy: Never}
  %s---
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: liar-%d, namespace: %s}
spec: {size: 1, version: 3.6.8, repository: %s}
`, i, ns.Name, hostileRedis, smallRedis, i, ns.Name, hostileEtcd)
	}
	file := filepath.Join(t.TempDir(), "hostile.yaml")
	if err := os.WriteFile(file, []byte(manifest.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "apply", "-f", file)
	return ns.Name
}

// awaitVictims waits until the logs show that the operator has connected to a hostile Redis server and to a hostile
// etcd server.
func (c *cluster) awaitVictims(t *testing.T, ns string) {
	t.Helper()
	eventually.True(t, 4*time.Minute, "the operator reads hostile servers of Redis and etcd", func() error {
		for _, kind := range []string{"RedisEnterpriseCluster", "EtcdCluster"} {
			if n := len(c.served(t, ns, kind)); n == 0 {
				return fmt.Errorf("no client has connected to a server of a %s", kind)
			}
		}
		return nil
	})
}

// wantServersRead checks that the operator has received most of the types of wrong responses, from Redis and from etcd.
func (c *cluster) wantServersRead(t *testing.T, ns string) {
	t.Helper()
	for kind, least := range map[string]int{"RedisEnterpriseCluster": 12, "EtcdCluster": 4} {
		lies := c.served(t, ns, kind)
		t.Logf("%s: clients met %d lies: %v", kind, len(lies), lies)
		if len(lies) < least {
			t.Errorf("expected the operator to meet at least %d lies of a %s, it met %d", least, kind, len(lies))
		}
	}
}

// served counts the wrong responses that the hostile servers of a kind (EtcdCluster or RedisEnterpriseCluster) have
// sent: for each type of response, the number of connections. It reads them from the logs of the servers' pods.
func (c *cluster) served(t *testing.T, ns, kind string) map[string]int {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	lies := map[string]int{}
	for _, pod := range pods.Items {
		if !ownedBy(&pod, kind) {
			continue
		}
		// Ignore the error: kubectl logs fails for a pod that has no log yet.
		out, _ := c.program("kubectl", "logs", "-n", ns, pod.Name, "--all-containers", "--ignore-errors").Output()
		for line := range strings.Lines(string(out)) {
			if _, lie, found := strings.Cut(strings.TrimSpace(line), " gets: "); found {
				lies[lie]++
			}
		}
	}
	return lies
}

// ownedBy reports whether a pod belongs to an object of the kind, directly or through a StatefulSet.
func ownedBy(pod *corev1.Pod, kind string) bool {
	etcd := pod.Labels["etcd_cluster"] != ""
	return etcd == (kind == "EtcdCluster")
}

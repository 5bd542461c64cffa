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

	corev1 "k8s.io/api/core/v1"
)

const (
	hostileRedis     = "opcrew-test/hostile-redis"
	hostileEtcd      = "opcrew-test/hostile-etcd"
	hostileMemcached = "opcrew-test/hostile-memcached:1"
	hostileExporter  = "opcrew-test/hostile-exporter:1"
	hostileSSH       = "opcrew-test/hostile-sshd:1"
	hostileAgent     = "opcrew-test/hostile-agent:1"
	// liars is the number of objects of each kind with stores, and liarDivas the number of Divas, whose pods write
	// much output.
	liars, liarDivas = 4, 2
)

// hostilePaths are the paths of the hostile program in the images. The name of the program decides what it does.
var hostilePaths = map[string]string{
	hostileRedis + ":7.0":   "/usr/bin/redis-server",
	hostileEtcd + ":v3.6.8": "/usr/local/bin/etcd",
	hostileMemcached:        "/usr/bin/memcached",
	hostileExporter:         "/bin/memcached_exporter",
	hostileSSH:              "/usr/sbin/sshd",
	hostileAgent:            "/opcrew-agent",
}

// liarStores has the clusters of one tenant whose servers lie. The arguments are the number of the clusters and the
// namespace.
const liarStores = `---
apiVersion: app.redislabs.com/v1alpha1
kind: RedisEnterpriseCluster
metadata: {name: redis-%[1]d, namespace: %[2]s}
spec:
  nodes: 3
  redisEnterpriseImageSpec: {repository: ` + hostileRedis + `, versionTag: "7.0", imagePullPolicy: Never}
  ` + smallRedis + `---
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: etcd-%[1]d, namespace: %[2]s}
spec: {size: 1, version: 3.6.8, repository: ` + hostileEtcd + `}
---
apiVersion: cache.example.com/v1alpha1
kind: Memcached
metadata: {name: cache-%[1]d, namespace: %[2]s}
spec: {size: 1, image: "` + hostileMemcached + `", exporter: {image: "` + hostileExporter + `"}}
`

// liarDiva is a Diva whose sshd lies. The NetworkPolicy of the tenant lets everyone connect, also the operator.
const liarDiva = `---
apiVersion: ops.xx.com/v1
kind: Diva
metadata: {name: ops-%[1]d, namespace: %[2]s}
spec:
  ssh: {port: 2222}
  deletionPolicy: Delete
  client: {replicas: 2, image: "` + hostileSSH + `", runAsUser: 1000, storage: {size: 1Gi, className: longhorn}}
  manager: {image: "` + hostileSSH + `", runAsUser: 1000, storage: {size: 1Gi, className: longhorn}}
  extra: {image: "` + hostileSSH + `", args: ["-V"], storage: {size: 1Gi, className: longhorn}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: everyone-%[1]d, namespace: %[2]s}
spec: {podSelector: {}, ingress: [{}]}
`

// hostileImages builds images whose servers and agents send wrong or endless responses, and loads them into the nodes.
func (c *cluster) hostileImages(t *testing.T) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "hostilestore")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./test/e2e/hostilestore")
	build.Dir, build.Env = c.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the hostile server: %v\n%s", err, out)
	}
	for tag, path := range hostilePaths {
		tar := filepath.Join(t.TempDir(), "hostile.tar")
		c.run(t, "localcluster", "image", "build", "--tag", tag, "--binary", program+"="+path, "--entrypoint", path, "--user", "65532:65532", "--output", tar)
		c.run(t, "localcluster", "image", "load", tar)
	}
}

// hostileTenant creates a namespace with objects that run the hostile images, and returns its name.
func (c *cluster) hostileTenant(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{}
	ns.GenerateName = "hostile-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false", "--ignore-not-found") })
	var manifest strings.Builder
	for i := range liars {
		fmt.Fprintf(&manifest, liarStores, i, ns.Name)
	}
	for i := range liarDivas {
		fmt.Fprintf(&manifest, liarDiva, i, ns.Name)
	}
	file := filepath.Join(t.TempDir(), "hostile.yaml")
	if err := os.WriteFile(file, []byte(manifest.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "apply", "-f", file)
	return ns.Name
}

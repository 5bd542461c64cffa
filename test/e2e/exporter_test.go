// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const exporterImage = "opcrew-test/memcached-exporter:0.14"

// wantExporter builds the Prometheus exporter for memcached, a separate Go module, and loads its image into the nodes.
func (c *cluster) wantExporter(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "exporter"),
		"github.com/prometheus/memcached_exporter/cmd/memcached_exporter")
	build.Dir, build.Env = filepath.Join(c.root, "test", "e2e", "exporter"), append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the exporter: %v\n%s", err, out)
	}
	tar := filepath.Join(dir, "exporter.tar")
	c.run(t, "localcluster", "image", "build", "--tag", exporterImage, "--binary", filepath.Join(dir, "exporter")+"=/memcached_exporter",
		"--entrypoint", "/memcached_exporter", "--user", "65532:65532", "--output", tar)
	c.run(t, "localcluster", "image", "load", tar)
}

func TestAMemcachedServesItsFiguresToPrometheus(t *testing.T) {
	c := newCacheTest(t)
	c.wantExporter(t)
	c.apply(t)
	c.await(t, metav1.ConditionTrue, 3, "3 of 3 servers answer")
	c.kubectl(t, "patch", "-n", c.ns, "memcached/"+articleCache, "--type=merge", "-p", fmt.Sprintf(`{"spec":{"exporter":{"image":%q}}}`, exporterImage))
	eventually.True(t, 2*time.Minute, "every server has a working exporter", func() error { return c.exporters(t) })
	c.await(t, metav1.ConditionTrue, 3, "3 of 3 servers answer")
	ring := c.ring(t)
	ring.fill(t)
	for server, keys := range ring.byServer() {
		name, _, _ := strings.Cut(server, ".")
		figure := fmt.Sprintf("memcached_current_items %d\n", len(keys))
		eventually.True(t, 10*time.Second, name+" exports its items", func() error {
			if text, err := c.figures(t, name); err != nil || !strings.Contains(text, figure) || !strings.Contains(text, "memcached_up 1\n") {
				return fmt.Errorf("expected %q, got %d bytes (%w)", figure, len(text), err)
			}
			return nil
		})
	}
}

func (c *cacheTest) exporters(t *testing.T) error {
	t.Helper()
	for i := range 3 {
		if _, err := c.figures(t, fmt.Sprintf("%s-%d", articleCache, i)); err != nil {
			return err
		}
	}
	return nil
}

// figures returns the metrics of a server's exporter. It requests them as Prometheus does.
func (c *cacheTest) figures(t *testing.T, pod string) (string, error) {
	t.Helper()
	server := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: pod}, server); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(server.Status.PodIP, "9150")+"/metrics", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

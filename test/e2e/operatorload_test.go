// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// policies are values of a setting of Redis that the operator changes while a server runs.
var policies = []string{"allkeys-lru", "allkeys-lfu", "allkeys-random"}

// load contains the highest resource use of one layer of the operator (its Deployment) during a period, and the longest
// time that it took to carry out an edit.
type load struct {
	memory     uint64
	goroutines int
	reaction   time.Duration
}

// loads contains the load of each layer that was measured, and how often containers of the operator have restarted.
type loads struct {
	layers   map[string]load
	restarts int
}

// measure reads the metrics of the leaders once per second. About every ten seconds, it also edits an object of each
// layer and measures how long the operator takes to carry out the edit.
func (h *hostileTest) measure(t *testing.T, when string, during time.Duration) loads {
	t.Helper()
	out := loads{layers: map[string]load{}}
	edits := map[string]func(*testing.T) time.Duration{dataLayer: h.redisReaction, applicationsLayer: h.diva.reaction}
	token := h.metricsToken(t)
	for i, end := 0, time.Now().Add(during); time.Now().Before(end); i++ {
		for layer, edit := range edits {
			most := h.sample(t, layer, token, out.layers[layer])
			if i%10 == 0 {
				most.reaction = max(most.reaction, edit(t))
			}
			out.layers[layer] = most
		}
		time.Sleep(time.Second)
	}
	out.restarts = h.restarts(t)
	for layer, most := range out.layers {
		t.Logf("%s, layer %s: memory %d MiB, goroutines %d, slowest reaction %s", when, layer, most.memory>>20, most.goroutines, most.reaction.Round(time.Millisecond))
	}
	return out
}

// sample reads the metrics of a layer's leader, and returns the larger values.
func (h *hostileTest) sample(t *testing.T, layer, token string, most load) load {
	t.Helper()
	memory, goroutines := h.metrics(t, h.leader(t, layer), token)
	most.memory, most.goroutines = max(most.memory, memory), max(most.goroutines, goroutines)
	return most
}

// redisReaction edits the test's Redis cluster, and returns how long the operator takes to bring the new setting to all
// servers.
func (h *hostileTest) redisReaction(t *testing.T) time.Duration {
	t.Helper()
	began, policy := time.Now(), policies[h.edits%len(policies)]
	h.edits++
	h.patch(t, fmt.Sprintf(`{"redisConfig":{"maxmemory-policy":%q}}`, policy))
	eventually.True(t, 5*time.Minute, "all servers have the policy "+policy, func() error {
		return h.servers.ForEachShard(t.Context(), func(ctx context.Context, server *goredis.Client) error {
			memory, err := server.Info(ctx, "memory").Result()
			if err == nil && !strings.Contains(memory, "maxmemory_policy:"+policy+"\r") {
				err = fmt.Errorf("%s does not have it", server)
			}
			return err
		})
	})
	return time.Since(began)
}

// restarts returns how often containers in the operator's namespace have restarted.
func (c *cluster) restarts(t *testing.T) int {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, pod := range pods.Items {
		for _, s := range pod.Status.ContainerStatuses {
			n += int(s.RestartCount)
		}
	}
	return n
}

// metricsToken returns a token of a ServiceAccount that may read the operator's metrics.
func (r *redisTest) metricsToken(t *testing.T) string {
	t.Helper()
	binding := "metrics-" + r.ns
	r.kubectl(t, "delete", "clusterrolebinding", binding, "--ignore-not-found")
	r.kubectl(t, "create", "clusterrolebinding", binding, "--clusterrole=opcrew-metrics-reader", "--serviceaccount="+r.ns+":default")
	t.Cleanup(func() { r.kubectl(t, "delete", "clusterrolebinding", binding, "--ignore-not-found") })
	return strings.TrimSpace(r.kubectl(t, "create", "token", "default", "-n", r.ns))
}

// metrics returns the memory use in bytes and the number of goroutines that a pod of the operator reports in its
// metrics.
func (c *cluster) metrics(t *testing.T, name, token string) (memory uint64, goroutines int) {
	t.Helper()
	pod := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, pod); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+pod.Status.PodIP+":8443/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	insecure := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, // the certificate is self-signed
	}}
	response, err := insecure.Do(request)
	if err != nil {
		t.Fatalf("read the metrics of %s: %v", name, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("expected the metrics of %s, got status %s and error %v", name, response.Status, err)
	}
	return uint64(gauge(t, text, "process_resident_memory_bytes")), int(gauge(t, text, "go_goroutines"))
}

// gauge returns the value of a metric without labels.
func gauge(t *testing.T, metrics []byte, name string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(metrics)
	if found == nil {
		t.Fatalf("expected the metric %s", name)
	}
	value, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

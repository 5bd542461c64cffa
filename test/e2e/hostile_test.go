// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"testing"
	"time"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
)

const (
	// attackTime is how long the test measures the operator while the operator reads from hostile servers.
	attackTime = 90 * time.Second
	// memoryLimit is the memory limit of the operator's containers in bytes (config/manager/deployment.yaml).
	memoryLimit = 512 << 20
	// mostReaction is the longest time that the operator may take to carry out an edit of another tenant during the
	// attack, in addition to the time before the attack. An operator that waits for one hostile server after the other
	// takes minutes.
	mostReaction = 20 * time.Second
)

// hostileTest has the clusters of a tenant who does no harm: a Redis cluster, of the operator's data layer, and a Diva,
// of the applications layer.
type hostileTest struct {
	*redisTest
	servers *redisClient
	diva    *divaTest
	edits   int // of the Redis cluster
}

// A tenant runs images whose servers send strings that do not fit into memory, endless lists, thousands of members, or
// bytes at a very slow rate, and agents whose logs are forged or have no end. The operator must not run out of memory,
// must still serve another tenant's clusters, and must not connect to servers that it has no reason to read.
func TestServersThatLieHarmNeitherTheOperatorNorOtherClusters(t *testing.T) {
	if err := cachev1alpha1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	r := newRedisTest(t, "")
	h := &hostileTest{redisTest: r, servers: r.client(t), diva: newDivaTest(t)}
	h.diva.awaitReady(t, 2)
	h.hostileImages(t)
	audit := h.audit(t)
	before := h.measure(t, "before", 20*time.Second)

	ns := h.hostileTenant(t)
	h.awaitVictims(t, ns)
	h.replaceAgents(t, ns)
	mark := audit.Mark(t)
	h.rotateKeys(t, ns)
	during := h.measure(t, "during", attackTime)
	h.wantServersRead(t, ns)
	h.wantNoConnections(t, ns)
	h.wantLogsRead(t, audit.Since(t, mark), ns)
	h.wantReportsRefused(t, ns)
	h.wantQuotesShort(t, ns)

	h.kubectl(t, "delete", "namespace", ns, "--timeout=120s")
	after := h.measure(t, "after", 30*time.Second)
	wantSmallLoad(t, before, during, after)
}

// wantSmallLoad checks the load of each layer of the operator.
func wantSmallLoad(t *testing.T, before, during, after loads) {
	t.Helper()
	if before.restarts != after.restarts {
		t.Errorf("expected no restart of the operator, got %d", after.restarts-before.restarts)
	}
	for layer := range before.layers {
		b, d, a := before.layers[layer], during.layers[layer], after.layers[layer]
		if most := max(b.memory, d.memory, a.memory); most > memoryLimit*3/4 {
			t.Errorf("expected layer %s to stay below three quarters of its memory limit, it used %d MiB", layer, most>>20)
		}
		if a.goroutines > b.goroutines+50 {
			t.Errorf("expected the goroutines for hostile servers to end with their clusters in layer %s: %d before, %d after", layer, b.goroutines, a.goroutines)
		}
		if most := max(d.reaction, a.reaction); most > b.reaction+mostReaction {
			t.Errorf("expected layer %s to carry out edits of another tenant almost as soon as before, in %s, it took %s", layer, b.reaction, most)
		}
	}
}

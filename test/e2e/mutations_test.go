// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/opcrew/opcrew/test/fields/table"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// mutationsBudget is the time limit for the tests of all kinds together.
const mutationsBudget = 15 * time.Minute

// The test sets every field of each of opcrew's kinds on live objects, first to the value of its row in test/fields and
// then to nonsense values. Each time, the API server must refuse the change with a message, or the object's status must
// describe the effect of the change. After the change is reverted, the object must be Ready again.
func TestNoMutationOfALiveObjectHarmsTheOperatorOrOutlastsItsEnd(t *testing.T) {
	c := connect(t)
	c.removePools(t) // otherwise, taints of NodePools from earlier tests would leave one node for all pods
	for _, image := range []string{nginxImage, memcachedImage} {
		c.wantImage(t, image)
	}
	if !c.holds(t, redisImage) {
		c.debian(t, "redis")
	}
	(&divaTest{cluster: c}).wantLonghorn(t)
	c.wantMachineConfig(t)
	tables, err := table.Read(c.root)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	before := c.operatorRestarts(t)
	var kinds sync.WaitGroup
	for _, kind := range tables {
		kinds.Go(func() { t.Run(kind.Kind, func(t *testing.T) { c.mutate(t, kind, began.Add(mutationsBudget)) }) })
	}
	kinds.Wait()
	if after := c.operatorRestarts(t); after != before {
		t.Errorf("expected no restart of the operator, its containers restarted %d times", after-before)
	}
	c.expectNoPanic(t, began)
}

// wantMachineConfig installs MachineConfig, and waits until the operator has restarted and serves it. It stays installed.
func (c *cluster) wantMachineConfig(t *testing.T) {
	t.Helper()
	c.kubectl(t, "apply", "--server-side", "-k", filepath.Join(c.root, "config/machineconfig"))
	probe := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	probe.SetAPIVersion("machineconfiguration.openshift.io/v1")
	probe.SetKind("MachineConfigPool")
	probe.SetGenerateName("served-")
	if err := c.Create(t.Context(), probe); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "wait", "--for=condition=Ready", "machineconfigpools/"+probe.GetName(), "--timeout=180s")
	c.kubectl(t, "delete", "machineconfigpools", probe.GetName())
}

// mutate tests all changes for a kind. It distributes them over several live objects.
func (c *cluster) mutate(t *testing.T, kind *table.File, end time.Time) {
	mutations, err := kind.Mutations(c.root)
	if err != nil {
		t.Fatal(err)
	}
	docs := c.mutated(t, kind.Kind)
	ns := &corev1.Namespace{}
	ns.GenerateName = "mutations-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	work, counts := make(chan table.Mutation, len(mutations)), &outcomes{of: map[string]int{}}
	for _, m := range mutations {
		work <- m
	}
	close(work)
	var objects sync.WaitGroup
	for i := range lanes[kind.Kind] + 1 {
		objects.Go(func() {
			p := newPatient(t, c, docs, ns.Name, fmt.Sprintf("m%d", i))
			for m := range work {
				if time.Now().After(end) {
					counts.add("not carried out: out of time")
					continue
				}
				counts.add(p.endure(m))
			}
		})
	}
	objects.Wait()
	t.Logf("%s: %d mutations: %s", kind.Kind, len(mutations), counts)
	if left := counts.of["not carried out: out of time"]; left > 0 {
		t.Errorf("expected all mutations within %s, %d were not carried out", mutationsBudget, left)
	}
}

// mutated returns the objects in the kind's manifest, which use existing images. The test changes the last of these
// objects.
func (c *cluster) mutated(t *testing.T, kind string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Read(filepath.Join(c.root, "test/e2e/testdata/mutations", kind+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "Diva" {
		return docs
	}
	for _, part := range []struct{ field, image string }{{"client", "diva-client"}, {"manager", "diva"}, {"extra", "diva-extra"}} {
		if err := unstructured.SetNestedField(docs[0].Object.Object, c.debian(t, part.image), "spec", part.field, "image"); err != nil {
			t.Fatal(err)
		}
	}
	return docs
}

// lanes is how many additional objects of a kind are tested in parallel. The listed kinds are those whose pods start
// slowly.
var lanes = map[string]int{"Diva": 2, "EtcdCluster": 2, "MicroServiceDeploy": 2, "RedisEnterpriseCluster": 3}

// outcomes counts how often each outcome occurred.
type outcomes struct {
	mu sync.Mutex
	of map[string]int
}

func (o *outcomes) add(outcome string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of[outcome]++
}

func (o *outcomes) String() string {
	var out []string
	for outcome, n := range o.of {
		out = append(out, fmt.Sprintf("%d %s", n, outcome))
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// samplesFolder is the folder with the samples. A user applies the whole folder with one command. samplesTime is the
// time limit until all samples are Ready, including the builds of their images.
const (
	samplesFolder = "config/samples"
	samplesTime   = 5 * time.Minute
)

// keptClaims selects the claims of the Redis sample. They are kept when the sample is deleted.
const keptClaims = "redis.io/cluster=example-redis"

// removeSamples deletes the samples that `make up` applied, and the data that remains after their deletion.
func (c *cluster) removeSamples(t *testing.T) {
	t.Helper()
	c.kubectl(t, "delete", "-f", samplesFolder, "--ignore-not-found", "--timeout=180s")
	c.kubectl(t, "delete", "pvc", "-n", "default", "-l", keptClaims, "--timeout=60s")
}

// samples returns the objects in the folder with the samples.
func (c *cluster) samples(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	docs, err := manifest.Read(filepath.Join(c.root, samplesFolder))
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, doc := range docs {
		if is, err := c.IsObjectNamespaced(doc.Object); err != nil {
			t.Fatal(err)
		} else if is && doc.Object.GetNamespace() == "" {
			doc.Object.SetNamespace("default")
		}
		objects = append(objects, doc.Object)
	}
	return objects
}

// settled returns an error that says what an object still waits for, or nil.
func (c *cluster) settled(t *testing.T, o *unstructured.Unstructured) error {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(o.GroupVersionKind())
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), live); err != nil {
		return err
	}
	switch o.GetKind() {
	case "Namespace", "PersistentVolumeClaim":
		if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); phase != "Active" && phase != "Bound" {
			return fmt.Errorf("the phase is %s", phase)
		}
		return nil
	case "Deployment":
		return hasCondition(live, "Available")
	}
	return hasCondition(live, "Ready")
}

// hasCondition returns an error unless the condition is True for the current generation.
func hasCondition(o *unstructured.Unstructured, kind string) error {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, condition := range conditions {
		if c := condition.(map[string]any); c["type"] == kind {
			if c["status"] == "True" && (c["observedGeneration"] == nil || c["observedGeneration"] == o.GetGeneration()) {
				return nil
			}
			return fmt.Errorf("%s is %v, %v: %v", kind, c["status"], c["reason"], c["message"])
		}
	}
	return fmt.Errorf("condition %s is not True for the current generation", kind)
}

// everything returns the names of all objects in the cluster whose types the samples may create.
func (c *cluster) everything(t *testing.T) []string {
	t.Helper()
	names := strings.Fields(c.kubectl(t, "get", "namespaces,persistentvolumes,runtimeclasses", "-o", "name"))
	return slices.Concat(names, strings.Fields(c.kubectl(t, "get", "-n", "default", "-o", "name",
		"pods,services,configmaps,secrets,serviceaccounts,persistentvolumeclaims,deployments,statefulsets,replicasets,"+
			"poddisruptionbudgets,networkpolicies,horizontalpodautoscalers,ingresses,resourcequotas")))
}

// applySamples applies the samples and checks that every object becomes Ready in time. Then it deletes the samples, and
// checks that nothing remains except the data that is kept according to the documentation.
func (c *cluster) applySamples(t *testing.T, flags ...string) {
	t.Helper()
	c.removePools(t)
	before, nodes := c.everything(t), c.carriedByAll(t)
	began := time.Now()
	c.kubectl(t, append([]string{"apply", "-f", samplesFolder}, flags...)...)
	for _, o := range c.samples(t) {
		name := o.GetKind() + " " + o.GetName()
		eventually.True(t, samplesTime-time.Since(began), name+" is Ready", func() error { return c.settled(t, o) })
		t.Logf("%4.0fs %s is Ready", time.Since(began).Seconds(), name)
	}
	for _, instance := range []string{"example-etcd-cluster", "example-redis", "example-memcached"} {
		c.wantNodes(t, instance, 2)
	}
	c.removeSamples(t)
	c.wantAsBefore(t, nodes)
	eventually.True(t, time.Minute, "all objects of the samples are gone", func() error {
		left := slices.DeleteFunc(c.everything(t), func(name string) bool { return slices.Contains(before, name) })
		if len(left) > 0 {
			return fmt.Errorf("these objects still exist: %q", left)
		}
		return nil
	})
}

// wantNodes checks that the pods of one custom resource run on at least the given number of nodes. instance is the name
// of the custom resource.
func (c *cluster) wantNodes(t *testing.T, instance string, least int) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace("default"), client.MatchingLabels{"app.kubernetes.io/instance": instance}); err != nil {
		t.Fatal(err)
	}
	byNode := map[string]int{}
	for i := range pods.Items {
		byNode[pods.Items[i].Spec.NodeName]++
	}
	t.Logf("the pods of %s run on %v", instance, byNode)
	if len(byNode) < least {
		t.Errorf("expected the pods of %s at %d nodes at least, they are at %v", instance, least, byNode)
	}
}

func TestSmokeTheSamplesThatAreAppliedAtOnceAreAllReady(t *testing.T) {
	connect(t).applySamples(t)
}

func TestTheSamplesCanBeAppliedServerSideAsWell(t *testing.T) {
	connect(t).applySamples(t, "--server-side")
}

// If an image is not in the catalogue of the local cluster's registry, the registry must refuse it immediately and name
// the image, so that users do not wait for it.
func TestAnImageThatTheRegistryDoesNotHaveIsRefusedAtOnce(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	for i, image := range []string{"nginx:1.7.9", "registry.example.com/team/app:1", "quay.io/coreos/etcd:v3.1.10"} {
		pod := fmt.Sprint("unknown-image-", i)
		c.kubectl(t, "run", pod, "-n", "default", "--image="+image, "--labels="+testPod+"=")
		eventually.True(t, soon, image+" is said not to be found", func() error {
			said := c.kubectl(t, "get", "pod", "-n", "default", pod, "-o", "jsonpath={.status.containerStatuses[0].state.waiting}")
			if !strings.Contains(said, image+": not found") {
				return fmt.Errorf("the container waits: %s", said)
			}
			return nil
		})
		c.kubectl(t, "delete", "pod", "-n", "default", pod, "--now")
	}
}

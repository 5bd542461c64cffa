// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// admitted maps each kind to the Pod Security Standard under which its sample must run, and to a label of its pods.
// Activity is not listed, because its pods run in opcrew's own namespace.
var admitted = map[string]struct{ level, pods string }{
	"AppService":             {"restricted", "app.kubernetes.io/name=appservice"},
	"MicroServiceDeploy":     {"restricted", "app.kubernetes.io/name=microservicedeploy"},
	"Memcached":              {"restricted", "app.kubernetes.io/name=memcached"},
	"RedisEnterpriseCluster": {"restricted", "redis.io/cluster"},
	"EtcdCluster":            {"restricted", "etcd_cluster"},
	"Diva":                   {"baseline", "app.kubernetes.io/name=diva"},
}

// The test only checks that the pods of the samples exist, because the API server creates no pod that breaks the
// standard. Whether a pod becomes ready does not matter.
func TestTheSamplesPodsAreAdmittedWhereAStandardIsEnforced(t *testing.T) {
	c := connect(t)
	for _, sample := range c.samples(t) {
		want, ok := admitted[sample.GetKind()]
		if !ok {
			continue
		}
		t.Run(sample.GetKind()+" "+sample.GetName(), func(t *testing.T) {
			ns := c.enforcing(t, want.level)
			object := sample.DeepCopy()
			object.SetNamespace(ns)
			withoutNodePorts(object.Object)
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			eventually.True(t, 2*time.Minute, "a pod is admitted", func() error { return c.hasPods(t, ns, want.pods) })
		})
	}
}

// enforcing creates a namespace that enforces a Pod Security Standard, and returns its name.
func (c *cluster) enforcing(t *testing.T, level string) string {
	t.Helper()
	ns := &corev1.Namespace{}
	ns.GenerateName = "enforces-" + level + "-"
	ns.Labels = map[string]string{"pod-security.kubernetes.io/enforce": level}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	return ns.Name
}

// hasPods returns an error unless a pod with the label exists.
func (c *cluster) hasPods(t *testing.T, ns, selector string) error {
	pods := &corev1.PodList{}
	key, value, exact := strings.Cut(selector, "=")
	which := client.ListOption(client.HasLabels{key})
	if exact {
		which = client.MatchingLabels{key: value}
	}
	if err := c.List(t.Context(), pods, client.InNamespace(ns), which); err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return errors.New(c.kubectl(t, "get", "events", "-n", ns, "--field-selector", "type=Warning"))
	}
	return nil
}

// withoutNodePorts removes all nodePorts from a manifest, because the sample in the cluster may already use them.
func withoutNodePorts(node any) {
	switch node := node.(type) {
	case map[string]any:
		delete(node, "nodePort")
		for _, value := range node {
			withoutNodePorts(value)
		}
	case []any:
		for _, value := range node {
			withoutNodePorts(value)
		}
	}
}

// Rules of a CRD can refuse a spec that breaks the Pod Security Standard, but an object may be older than the rule. So
// the operator also checks the pods that it writes. The test sets a field that no rule of the CRD checks.
func TestAPodThatBreaksTheStandardIsNotWritten(t *testing.T) {
	c := connect(t)
	ns := c.enforcing(t, "privileged")
	hostile := &unstructured.Unstructured{}
	if err := hostile.UnmarshalJSON([]byte(`{"apiVersion":"app.redislabs.com/v1alpha1","kind":"RedisEnterpriseCluster","metadata":{"name":"hostile"},"spec":{
		"sideContainersSpec":[{"name":"side","image":"busybox","lifecycle":{"preStop":{"httpGet":{"host":"169.254.169.254","port":80}}}}]}}`)); err != nil {
		t.Fatal(err)
	}
	hostile.SetNamespace(ns)
	if err := c.Create(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	c.kubectl(t, "wait", "-n", ns, "--for=jsonpath={.status.conditions[?(@.type==\"Ready\")].reason}=PodSecurityViolation", "redisenterprisecluster/hostile", "--timeout=60s")
	if out := c.kubectl(t, "get", "statefulset", "-n", ns, "-o", "name"); strings.TrimSpace(out) != "" {
		t.Errorf("expected no StatefulSet, got %s", out)
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func withSide(container string) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.SideContainersSpec = []common.Container{common.ContainerOf(container)}
	}
}

func withHostPath(c *redisv1alpha1.RedisEnterpriseCluster) {
	c.Spec.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
}

// The CRD refuses most of these specs. An earlier version of the CRD accepted the first four, so they may be stored.
func TestATenantGetsNoPodsWithRightsOnTheNode(t *testing.T) {
	s := newSite(t)
	restore := s.withoutRules()
	attacks := map[string]struct {
		attack option
		rule   string
	}{
		"host-path":   {withHostPath, "rule restrictedVolumes"},
		"privileged":  {withSide(`{"name":"side","image":"a","securityContext":{"privileged":true}}`), "rule privileged"},
		"root":        {withSide(`{"name":"side","image":"a","securityContext":{"runAsUser":0}}`), "rule runAsUser"},
		"host-port":   {withSide(`{"name":"side","image":"a","ports":[{"containerPort":80,"hostPort":80}]}`), "rule hostPorts"},
		"host-probes": {withSide(`{"name":"side","image":"a","lifecycle":{"preStop":{"httpGet":{"host":"other","port":80}}}}`), "rule hostProbesAndHostLifecycle"},
	}
	for name, test := range attacks {
		s.name = name
		eventually.True(t, time.Minute, name+" is stored while there are no rules", func() error {
			return s.tryCreate(test.attack)
		})
	}
	restore(t.Context())
	for name, test := range attacks {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			s.name = name
			s.await("False PodSecurityViolation", "StatefulSet "+s.ns+"/"+name+" is not written", "restricted Pod Security Standard", test.rule)
			sets := &appsv1.StatefulSetList{}
			if err := env.Client.List(t.Context(), sets, client.InNamespace(s.ns)); err != nil || len(sets.Items) > 0 {
				t.Errorf("expected no StatefulSet, got %d (%v)", len(sets.Items), err)
			}
		})
	}
	s.name = "host-path"
	s.edit(func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.Volumes = nil })
	eventually.True(t, time.Minute, "a spec that is corrected is carried out", func() error {
		return env.Client.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, &appsv1.StatefulSet{})
	})
}

// tryCreate creates the smallest valid object, changed by the options.
func (s *site) tryCreate(options ...option) error {
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	c.Namespace, c.Name = s.ns, s.name
	for _, option := range options {
		option(c)
	}
	return env.Client.Create(s.Context(), c)
}

// withoutRules removes the CRD's rules about volumes and containers, as in an earlier version of the CRD. restore puts
// the rules back.
func (s *site) withoutRules() (restore func(context.Context)) {
	s.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	crd.SetName("redisenterpriseclusters.app.redislabs.com")
	serve := func(ctx context.Context, change func(spec map[string]any)) {
		s.Helper()
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			s.Fatal(err)
		}
		change(crd.Object["spec"].(map[string]any))
		if err := env.Client.Update(ctx, crd); err != nil {
			s.Fatal(err)
		}
	}
	var rules map[string]any
	serve(s.Context(), func(spec map[string]any) {
		rules = (&unstructured.Unstructured{Object: spec}).DeepCopy().Object
		for _, field := range []string{"volumes", "sideContainersSpec"} {
			dropRules(fieldOf(spec, field))
		}
	})
	restore = func(ctx context.Context) {
		serve(ctx, func(spec map[string]any) { spec["versions"] = rules["versions"] })
	}
	s.Cleanup(func() { restore(context.WithoutCancel(s.Context())) })
	return restore
}

// fieldOf returns the schema of a field of the spec.
func fieldOf(crd map[string]any, field string) any {
	version := crd["versions"].([]any)[0].(map[string]any)
	schema, found, err := unstructured.NestedFieldNoCopy(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", field)
	if !found || err != nil {
		panic(fmt.Sprintf("the CRD has no field %s: %v", field, err))
	}
	return schema
}

func dropRules(schema any) {
	switch node := schema.(type) {
	case map[string]any:
		delete(node, "x-kubernetes-validations")
		for _, value := range node {
			dropRules(value)
		}
	case []any:
		for _, value := range node {
			dropRules(value)
		}
	}
}

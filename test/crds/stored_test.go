// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const shadowing = `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: stored}
spec:
  size: 3
  pod: {etcdEnv: [{name: ETCD_LISTEN_METRICS_URLS, value: "http://0.0.0.0:9090"}, {name: ETCD_CERT_FILE, value: /etc/cert}, {name: ETCD_PEER_KEY_FILE, value: /etc/key}]}
  upkeep: {defragment: {timeZone: Mars/Base}}
  TLS: {static: {member: {peerSecret: peers, serverSecret: servers}, operatorSecret: operator}}
`

// An object that an earlier CRD accepted may break a new rule. Users must still be able to scale, pause and label it.
func TestAnObjectThatWasStoredBeforeARuleCanBeChangedElsewhere(t *testing.T) {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: "etcdclusters.etcd.database.coreos.com"}, crd); err != nil {
		t.Fatal(err)
	}
	withRules := crd.Object["spec"].(map[string]any)
	serve := func(ctx context.Context, spec map[string]any) {
		t.Helper()
		if err := env.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			t.Fatal(err)
		}
		crd.Object["spec"] = spec
		if err := env.Client.Update(ctx, crd); err != nil {
			t.Fatal(err)
		}
	}
	serve(t.Context(), withoutRules(withRules).(map[string]any))
	t.Cleanup(func() { serve(context.WithoutCancel(t.Context()), withRules) })

	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(shadowing), &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetNamespace("default")
	eventually.True(t, time.Minute, "the object is stored while there are no rules", func() error {
		return env.Client.Create(t.Context(), object.DeepCopy())
	})
	t.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(t.Context()), object.DeepCopy()) })
	serve(t.Context(), withRules)
	another := object.DeepCopy()
	another.SetName("another")
	eventually.True(t, time.Minute, "a new object of that sort is refused", func() error {
		if env.Client.Create(t.Context(), another.DeepCopy(), client.DryRunAll) == nil {
			return fmt.Errorf("the API server accepts the object, although a rule forbids it")
		}
		return nil
	})
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	before := object.DeepCopy()
	_ = unstructured.SetNestedField(object.Object, int64(5), "spec", "size")
	_ = unstructured.SetNestedField(object.Object, true, "spec", "paused")
	if err := env.Client.Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Errorf("expected an object that was stored before to be scaled and paused, got %v", err)
	}
}

// withoutRules returns a copy of a CRD's schema without its CEL rules.
func withoutRules(schema any) any {
	switch node := schema.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range node {
			if key != "x-kubernetes-validations" {
				out[key] = withoutRules(value)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(node))
		for _, value := range node {
			out = append(out, withoutRules(value))
		}
		return out
	}
	return schema
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build fields

package fields

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/fields/table"
)

// versions maps the names of Kubernetes kinds that rows check to their group and version.
var versions = map[string]schema.GroupVersion{
	"ConfigMap": {Version: "v1"}, "Node": {Version: "v1"}, "PersistentVolumeClaim": {Version: "v1"}, "Pod": {Version: "v1"},
	"ResourceQuota": {Version: "v1"}, "Secret": {Version: "v1"}, "Service": {Version: "v1"}, "ServiceAccount": {Version: "v1"},
	"Deployment": {Group: "apps", Version: "v1"}, "StatefulSet": {Group: "apps", Version: "v1"},
	"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2"},
	"HTTPRoute":               {Group: "gateway.networking.k8s.io", Version: "v1"},
	"Ingress":                 {Group: "networking.k8s.io", Version: "v1"},
	"NetworkPolicy":           {Group: "networking.k8s.io", Version: "v1"},
	"PodDisruptionBudget":     {Group: "policy", Version: "v1"},
	"RuntimeClass":            {Group: "node.k8s.io", Version: "v1"},
	"Activity":                {Group: "ego.example.com", Version: "v1"},
	"MachineConfigPool":       {Group: "machineconfiguration.openshift.io", Version: "v1"},
}

func key(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

// look returns an error unless all expected observations hold for the objects that the reader returns.
func (t *trial) look(ctx context.Context, from client.Reader, expected ...table.See) error {
	for _, see := range expected {
		see = see.Of(t.name)
		objects, err := t.find(ctx, from, see)
		if err != nil {
			return err
		}
		if err := see.In(objects); err != nil {
			return err
		}
	}
	return nil
}

// find returns the objects that an observation names.
func (t *trial) find(ctx context.Context, from client.Reader, see table.See) ([]table.Object, error) {
	if see.Kind == "self" {
		return t.get(ctx, from, t.gvk(), t.name)
	}
	group, ok := versions[see.Kind]
	if !ok {
		return nil, fmt.Errorf("add kind %s to the list in look_test.go", see.Kind)
	}
	if see.Name != "" {
		return t.get(ctx, from, group.WithKind(see.Kind), see.Name)
	}
	return t.list(ctx, from, group.WithKind(see.Kind))
}

func (t *trial) gvk() schema.GroupVersionKind {
	base := unstructured.Unstructured{Object: t.kind.Base}
	return base.GroupVersionKind()
}

func (t *trial) get(ctx context.Context, from client.Reader, gvk schema.GroupVersionKind, name string) ([]table.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	namespaced, err := env.Client.IsObjectNamespaced(object)
	if err != nil {
		return nil, err
	}
	where := key("", name)
	if namespaced {
		where.Namespace = t.namespace
	}
	err = from.Get(ctx, where, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return []table.Object{object.Object}, err
}

// list returns the objects of a kind in the trial's namespace that are not being deleted. For pods, it returns only
// those that match the row's label selector.
func (t *trial) list(ctx context.Context, from client.Reader, gvk schema.GroupVersionKind) ([]table.Object, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := from.List(ctx, list, client.InNamespace(t.namespace)); err != nil {
		return nil, err
	}
	chosen := labels.Everything()
	if gvk.Kind == "Pod" {
		var err error
		if chosen, err = labels.Parse(t.row.Pods); err != nil {
			return nil, err
		}
	}
	var out []table.Object
	for _, item := range list.Items {
		if item.GetDeletionTimestamp() == nil && chosen.Matches(labels.Set(item.GetLabels())) {
			out = append(out, item.Object)
		}
	}
	return out, nil
}

// settled returns an error until the trial's object is ready to be edited.
func (t *trial) settled(ctx context.Context, from client.Reader) error {
	if err := t.observed(ctx, from); err != nil {
		return err
	}
	expected := t.row.Settled
	if expected == nil {
		expected = t.kind.Settled
	}
	if expected == nil {
		expected = []table.See{{Kind: "self", Path: `{.status.conditions[?(@.type=="Ready")].status}`, Operator: "=", Want: "True"}}
	}
	err := t.look(ctx, from, expected...)
	if err != nil {
		return errors.Join(err, t.ready(ctx, from))
	}
	return nil
}

// observed returns an error until the status of the trial's object describes the current spec.
func (t *trial) observed(ctx context.Context, from client.Reader) error {
	objects, err := t.get(ctx, from, t.gvk(), t.name)
	if err != nil || len(objects) == 0 { // some rows expect that the object is deleted
		return err
	}
	object := unstructured.Unstructured{Object: objects[0]}
	if _, has := objects[0]["status"]; !has { // a MachineConfig has no status; pools report about it
		return nil
	}
	seen, _, _ := unstructured.NestedInt64(objects[0], "status", "observedGeneration")
	if seen != object.GetGeneration() {
		return fmt.Errorf("the status describes generation %d, but the spec has generation %d", seen, object.GetGeneration())
	}
	return nil
}

// ready returns nil if the object's condition Ready is True. Otherwise it returns the condition's message as an error.
func (t *trial) ready(ctx context.Context, from client.Reader) error {
	return t.look(ctx, from, table.See{Kind: "self", Path: `{.status.conditions[?(@.type=="Ready")].message}`, Operator: "=", Want: "(what Ready says)"})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Key identifies an object in a view.
type Key struct{ Kind, Namespace, Name string }

// String formats the key as kind and name, such as "Node n-0".
func (k Key) String() string {
	return k.Kind + " " + strings.TrimPrefix(k.Namespace+"/"+k.Name, "/")
}

func keyOf(u *unstructured.Unstructured) Key {
	return Key{u.GetKind(), u.GetNamespace(), u.GetName()}
}

// View contains all objects of a run at one moment, as the observer saw them.
type View struct {
	scheme    *runtime.Scheme
	namespace string // namespace of the run; empty for a cluster-scoped kind
	objects   map[Key]*unstructured.Unstructured
	changed   map[string]time.Time // per kind: when an object was last created or deleted, or its spec changed
}

// Get copies the object with this name into an empty object of its type. If the type is namespaced, it uses the run's
// namespace.
func (v View) Get(name string, into client.Object) error {
	kind, err := apiutil.GVKForObject(into, v.scheme)
	if err != nil {
		return err
	}
	found := v.objects[Key{kind.Kind, v.namespace, name}]
	if found == nil {
		found = v.objects[Key{kind.Kind, "", name}]
	}
	if found == nil {
		return fmt.Errorf("there is no %s %s", kind.Kind, name)
	}
	return decode(found.Object, into)
}

// Gone returns nil if no object of this type and name exists.
func (v View) Gone(name string, of client.Object) error {
	if err := v.Get(name, of); err == nil {
		return fmt.Errorf("%T %s still exists", of, name)
	}
	return nil
}

// List copies all objects of a list's item type into the list, sorted by name.
func (v View) List(into client.ObjectList) error {
	kind, err := apiutil.GVKForObject(into, v.scheme)
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{}
	for _, key := range v.keys() {
		if key.Kind+"List" == kind.Kind {
			list.Items = append(list.Items, *v.objects[key])
		}
	}
	return decode(list.UnstructuredContent(), into)
}

// decode converts unstructured content to a typed object. If the fast converter fails, as for fields that may be a
// string or a number, decode uses JSON.
func decode(content map[string]any, into any) error {
	if runtime.DefaultUnstructuredConverter.FromUnstructured(content, into) == nil {
		return nil
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Objects returns all objects of a kind, sorted by name.
func (v View) Objects(kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, key := range v.keys() {
		if key.Kind == kind {
			found = append(found, v.objects[key])
		}
	}
	return found
}

func (v View) keys() []Key {
	return slices.SortedFunc(maps.Keys(v.objects), func(a, b Key) int { return cmp.Compare(a.String(), b.String()) })
}

// with returns the view after an event. It does not change the original view.
func (v View) with(e Event) View {
	after := View{v.scheme, v.namespace, maps.Clone(v.objects), v.changed}
	was := v.objects[e.Key]
	if was == nil || e.Gone || was.GetGeneration() != e.Object.GetGeneration() || was.GetUID() != e.Object.GetUID() {
		after.changed = maps.Clone(v.changed)
		if after.changed == nil {
			after.changed = map[string]time.Time{}
		}
		after.changed[e.Key.Kind] = e.At
	}
	if e.Gone {
		delete(after.objects, e.Key)
	} else {
		after.objects[e.Key] = e.Object
	}
	return after
}

// Known reports whether the operator must know all objects of a kind at the time of an event. This is so if, for some
// time before the event, no object of the kind was created or deleted and no spec changed.
func (v View) Known(kind string, e Event) bool { return e.At.Sub(v.changed[kind]) > lag }

// Ready returns an object's condition Ready and its status.observedGeneration.
func Ready(u *unstructured.Unstructured) (metav1.Condition, int64) {
	observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		content, _ := item.(map[string]any)
		condition := metav1.Condition{}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &condition)
		if err == nil && condition.Type == "Ready" {
			return condition, observed
		}
	}
	return metav1.Condition{}, observed
}

func kindOf(object client.Object, scheme *runtime.Scheme) schema.GroupVersionKind {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil { // cannot fail, because the harness looks up every type at its start
		panic(err)
	}
	return kind
}

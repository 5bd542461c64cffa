// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// comparer finds differences between a live object and its declaration. It uses the API server's merge schema: list
// items are matched by their keys, and quantities are compared by value. Defaults and the fields of other managers are
// ignored.
type comparer struct {
	scheme   *runtime.Scheme
	builtin  managedfields.TypeConverter
	schemata managedfields.TypeConverter
}

// builtin returns the schema of the built-in kinds of Kubernetes. It is computed only once, because that is slow.
var builtin = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)
})

func newComparer(scheme *runtime.Scheme) *comparer {
	return &comparer{
		scheme:   scheme,
		builtin:  builtin(),
		schemata: managedfields.NewDeducedTypeConverter(),
	}
}

// drift returns the declared field paths whose live value differs; nil if there are none.
func (c *comparer) drift(in *intent, live client.Object) (*fieldpath.Set, error) {
	declared, err := c.typed(in.object)
	if err != nil {
		return nil, err
	}
	wanted, err := c.normalised(in)
	if err != nil {
		return nil, err
	}
	found, err := c.live(in, live)
	if err != nil {
		return nil, err
	}
	diff, err := extract(declared, wanted).Compare(extract(declared, found))
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", in.Ref, err)
	}
	changed := diff.Removed.Union(diff.Modified).Union(diff.Added).Union(in.extended(found))
	if changed.Empty() {
		return nil, nil
	}
	return changed, nil
}

// extended returns the paths in Child.Whole where the live object has another value than the declaration.
func (in *intent) extended(live *typed.TypedValue) *fieldpath.Set {
	out := fieldpath.NewSet()
	content, _ := live.AsValue().Unstructured().(map[string]any)
	for _, path := range in.child.Whole {
		declared, _, _ := unstructured.NestedFieldNoCopy(in.object.Object, split(path)...)
		found, _, _ := unstructured.NestedFieldNoCopy(content, split(path)...)
		if !equal(declared, found) {
			out.Insert(fieldpath.MakePathOrDie(parts(path)...))
		}
	}
	return out
}

// parts returns the fields of a dotted path.
func parts(path string) []any {
	var out []any
	for _, field := range split(path) {
		out = append(out, field)
	}
	return out
}

// normalised returns the declaration as the API server would return it: with canonical quantities, and without zero
// values of omitted fields.
func (c *comparer) normalised(in *intent) (*typed.TypedValue, error) {
	object, err := c.scheme.New(in.GroupVersionKind)
	if runtime.IsNotRegisteredError(err) {
		return c.typed(in.object)
	}
	if err != nil {
		return nil, fmt.Errorf("look up the type of %s: %w", in.Ref, err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(in.object.Object, object); err != nil {
		return nil, fmt.Errorf("%s does not fit its type: %w", in.Ref, err)
	}
	return c.live(in, object)
}

func (c *comparer) live(in *intent, object runtime.Object) (*typed.TypedValue, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", in.Ref, err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(in.GroupVersionKind)
	return c.typed(u)
}

// typed parses an object by its schema. Custom resources have no schema here, so each list in them is compared as a
// single value.
func (c *comparer) typed(u *unstructured.Unstructured) (*typed.TypedValue, error) {
	converter := c.schemata
	if clientgoscheme.Scheme.Recognizes(u.GroupVersionKind()) {
		converter = c.builtin
	}
	value, err := converter.ObjectToTyped(u, typed.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("read %s %s by its schema: %w", u.GetKind(), u.GetName(), err)
	}
	return value, nil
}

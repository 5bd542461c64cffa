// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// extract returns the part of an object that opcrew declares, without values of other managers and API server defaults.
// Defaults are also removed inside atomic values: otherwise, a default in a claim template would always count as drift.
// Atomic lists keep their length, and atomic maps their keys, because opcrew owns them as a whole.
//
// TypedValue.ExtractItems is not suitable: it returns atomic values with their defaults, and loses everything below a
// map without a schema, such as the spec of a custom resource.
func extract(declared, from *typed.TypedValue) *typed.TypedValue {
	e := extractor{from.Schema()}
	part := e.value(declared.AsValue().Unstructured(), from.AsValue().Unstructured(), from.TypeRef(), false)
	//nolint:staticcheck // a part of a valid value need not be valid: required fields may be left out
	return typed.AsTypedUnvalidated(value.NewValueInterface(part), from.Schema(), from.TypeRef())
}

type extractor struct{ schema *schema.Schema }

// value returns the parts of a live value (from) that its declaration contains. atomic is true if the value is inside
// an atomic list or map.
func (e extractor) value(declared, from any, ref schema.TypeRef, atomic bool) any {
	atom, ok := e.schema.Resolve(ref)
	if !ok {
		return from
	}
	switch from := from.(type) {
	case map[string]any:
		if declared, ok := declared.(map[string]any); ok && atom.Map != nil {
			return e.fields(declared, from, atom.Map, atomic || atom.Map.ElementRelationship == schema.Atomic)
		}
	case []any:
		if declared, ok := declared.([]any); ok && atom.List != nil {
			return e.items(declared, from, atom.List, atomic || atom.List.ElementRelationship == schema.Atomic)
		}
	}
	return from
}

func (e extractor) fields(declared, from map[string]any, m *schema.Map, atomic bool) map[string]any {
	out := map[string]any{}
	for key, item := range from {
		ref, isField := m.ElementType, untyped(m.ElementType)
		if field, ok := m.FindField(key); ok {
			ref, isField = field.Type, true
		}
		wanted, isDeclared := declared[key]
		switch {
		case isDeclared && !atomic && e.demandsNothing(wanted, ref):
		case isDeclared:
			out[key] = e.value(wanted, item, ref, atomic)
		case atomic && !isField:
			out[key] = item
		}
	}
	return out
}

// demandsNothing reports whether a declared value is an empty map or list, which permits entries of other managers. An
// empty struct, such as an emptyDir, is a real value.
func (e extractor) demandsNothing(declared any, ref schema.TypeRef) bool {
	atom, ok := e.schema.Resolve(ref)
	if !ok || untyped(ref) {
		return false
	}
	switch declared := declared.(type) {
	case map[string]any:
		return len(declared) == 0 && atom.Map != nil && len(atom.Map.Fields) == 0 && atom.Map.ElementRelationship != schema.Atomic
	case []any:
		return len(declared) == 0 && atom.List != nil && atom.List.ElementRelationship != schema.Atomic
	}
	return false
}

func (e extractor) items(declared, from []any, l *schema.List, atomic bool) []any {
	out := []any{}
	for i, item := range from {
		switch wanted := e.counterpart(declared, i, item, l, atomic); {
		case wanted != nil:
			out = append(out, e.value(wanted, item, l.ElementType, atomic))
		case atomic:
			out = append(out, item)
		}
	}
	return out
}

// counterpart returns the declared item that corresponds to a live item: the one with the same index in an atomic list,
// with the same keys in a keyed list, or with the same value in any other list.
func (e extractor) counterpart(declared []any, i int, item any, l *schema.List, atomic bool) any {
	if atomic {
		if i < len(declared) {
			return declared[i]
		}
		return nil
	}
	i = slices.IndexFunc(declared, func(candidate any) bool {
		if len(l.Keys) == 0 {
			return equal(candidate, item)
		}
		return !slices.ContainsFunc(l.Keys, func(key string) bool {
			return !equal(e.key(candidate, key, l.ElementType), e.key(item, key, l.ElementType))
		})
	})
	if i < 0 {
		return nil
	}
	return declared[i]
}

// key returns the value of an item's key field. If the field is not set, it returns the default, such as TCP for a
// port.
func (e extractor) key(item any, key string, ref schema.TypeRef) any {
	content, _ := item.(map[string]any)
	if found, ok := content[key]; ok {
		return found
	}
	if atom, ok := e.schema.Resolve(ref); ok && atom.Map != nil {
		if field, ok := atom.Map.FindField(key); ok {
			return field.Default
		}
	}
	return nil
}

func equal(a, b any) bool {
	return value.Equals(value.NewValueInterface(a), value.NewValueInterface(b))
}

// untyped reports whether a value has no schema, as in custom resources. Without a schema, struct fields and map keys
// look the same.
func untyped(ref schema.TypeRef) bool {
	return ref.NamedType != nil && strings.HasPrefix(*ref.NamedType, "__untyped_")
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"maps"
	"strings"
)

// Merge merges patch into base like a JSON merge patch. Unlike a merge patch, Merge keeps null values, so that its
// result can be used as a patch.
func Merge(base, patch Object) Object {
	if base == nil {
		return patch
	}
	out := maps.Clone(base)
	for key, value := range patch {
		below, is := value.(Object)
		there, was := out[key].(Object)
		if is && was {
			value = Merge(there, below)
		}
		out[key] = value
	}
	return out
}

// Change returns a merge patch that sets the field at path to the row's value. If the path contains a list, the patch
// contains the whole list, and changes the field of the first item.
func (r Row) Change(path string, object Object) Object {
	if r.Edit != nil {
		return r.Edit
	}
	return set(object, strings.Split(path, "."), r.To)
}

func set(object Object, path []string, to any) Object {
	name, isList := strings.CutSuffix(path[0], "[]")
	switch {
	case len(path) == 1:
		return Object{name: to}
	case isList:
		items, _ := object[name].([]any)
		first := Object{}
		if len(items) > 0 {
			first, _ = items[0].(Object)
			items = items[1:]
		}
		changed := withoutNull(Merge(first, set(first, path[1:], to)))
		return Object{name: append([]any{changed}, items...)}
	}
	below, _ := object[name].(Object)
	return Object{name: set(below, path[1:], to)}
}

func withoutNull(object Object) Object {
	maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
	return object
}

// Named returns a copy of a JSON value in which the object's name replaces $name in every string.
func Named(value any, name string) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "$name", name)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Named(v[i], name)
		}
		return out
	case Object:
		out := Object{}
		for key, below := range v {
			out[strings.ReplaceAll(key, "$name", name)] = Named(below, name)
		}
		return out
	}
	return value
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/opcrew/opcrew/api/common"
)

// state contains all objects of a run in a form that can be compared with other runs.
type state map[string]map[string]any

// stateOf removes values that differ between runs, such as versions, times and field managers. It replaces UIDs by the
// names of their objects.
func stateOf(v View, s *Subject) state {
	names := identities{namespace: v.namespace, uids: map[string]string{}}
	for key, object := range v.objects {
		names.uids[string(object.GetUID())] = "uid of " + Key{key.Kind, "", key.Name}.String()
	}
	out := state{}
	// Objects whose names contain a generated part are numbered in the order of their real names.
	for _, key := range v.keys() {
		object := v.objects[key].DeepCopy()
		if s.Mask != nil {
			s.Mask(object)
		}
		if len(object.Object) == 0 {
			continue
		}
		object.SetName(generic(object).Name)
		key := generic(object).String()
		for n := 2; out[key] != nil; n++ {
			key = fmt.Sprintf("%s (%d)", generic(object), n)
		}
		content, _ := masked(object.Object, "", names).(map[string]any)
		out[key] = content
	}
	return out
}

// identities maps values that the server generated to the names that replace them.
type identities struct {
	namespace string
	uids      map[string]string
}

func (i identities) name(text string) string {
	if name, ok := i.uids[text]; ok {
		return uid.ReplaceAllString(name, "*")
	}
	text = uid.ReplaceAllString(text, "*")
	if i.namespace == "" {
		return text
	}
	return strings.ReplaceAll(text, i.namespace, "(the namespace)")
}

// unstable lists the fields whose values differ in every run.
var unstable = []string{
	".metadata.uid", ".metadata.resourceVersion", ".metadata.generation", ".metadata.creationTimestamp",
	".metadata.deletionTimestamp", ".metadata.managedFields", ".metadata.namespace", ".metadata.selfLink",
	".status.observedGeneration", ".metadata.annotations." + common.AppliedAnnotation,
}

// masked returns a copy of a value without the unstable fields. path is the value's path without list indexes.
func masked(value any, path string, names identities) any {
	switch value := value.(type) {
	case map[string]any:
		return maskedMap(value, path, names)
	case []any:
		var out []any
		for _, item := range value {
			if kept := masked(item, path, names); kept != nil && !touchedItem(item) {
				out = append(out, kept)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case string:
		return names.name(value)
	}
	return value
}

func maskedMap(value map[string]any, path string, names identities) any {
	if path == ".status.conditions" && value["type"] == common.ConditionPlacement {
		return map[string]any{"type": value["type"]} // the nodes on which pods run differ between runs
	}
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(value)) {
		at := path + "." + key
		if slices.Contains(unstable, at) || strings.HasPrefix(key, TouchPrefix) ||
			strings.HasSuffix(key, "Time") || strings.HasSuffix(key, "Timestamp") || at == ".status.conditions.observedGeneration" {
			continue
		}
		if kept := masked(value[key], at, names); kept != nil {
			out[key] = kept
		}
	}
	if len(out) == 0 && path != "" {
		return nil // treat an empty map like a missing one
	}
	return out
}

// touchedItem reports whether the test itself, acting as another client, added this item (such as a taint) to a list.
func touchedItem(item any) bool {
	content, ok := item.(map[string]any)
	if !ok {
		return false
	}
	key, _, _ := unstructured.NestedString(content, "key")
	return strings.HasPrefix(key, TouchPrefix)
}

// differs describes where two states differ, in as few lines as possible. It returns "" if they are equal.
func differs(want, got state) string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch object, there := got[key]; {
		case !there:
			lines = append(lines, "missing: "+key)
		default:
			if diff := cmp.Diff(want[key], object); diff != "" {
				lines = append(lines, key+" (-expected +found):\n"+diff)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, there := want[key]; !there {
			lines = append(lines, "left over: "+key)
		}
	}
	return strings.Join(lines, "\n")
}

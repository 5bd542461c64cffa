// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// viewOf returns a view that contains the objects in the JSON texts.
func viewOf(t *testing.T, objects ...string) View {
	t.Helper()
	v := View{objects: map[Key]*unstructured.Unstructured{}}
	for _, text := range objects {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		v.objects[keyOf(u)] = u
	}
	return v
}

func TestStatesDifferOnlyInWhatMatters(t *testing.T) {
	const owner = `{"apiVersion":"a/v1","kind":"Shop","metadata":{"name":"x","uid":"1"}}`
	const sign = `{"apiVersion":"v1","kind":"Sign","metadata":{"name":"s","uid":"2","resourceVersion":"7","ownerReferences":[{"uid":"1"}]},"spec":{"color":"red"}}`
	tests := []struct {
		name    string
		objects []string
		want    string // part of the reported difference; empty if none is expected
	}{
		{"the same", []string{owner, sign}, ""},
		{"other identities and versions", []string{
			`{"apiVersion":"a/v1","kind":"Shop","metadata":{"name":"x","uid":"10","creationTimestamp":"2026-01-01T00:00:00Z"}}`,
			`{"apiVersion":"v1","kind":"Sign","metadata":{"name":"s","uid":"20","resourceVersion":"9","ownerReferences":[{"uid":"10"}]},"spec":{"color":"red"}}`,
		}, ""},
		{"empty maps and what the harness touched", []string{owner,
			`{"apiVersion":"v1","kind":"Sign","metadata":{"name":"s","ownerReferences":[{"uid":"1"}],"labels":{},"annotations":{"faults.opcrew.io/touched":"3"}},"spec":{"color":"red","taints":[{"key":"faults.opcrew.io/taint"}]}}`,
		}, ""},
		{"another value", []string{owner, strings.Replace(sign, "red", "blue", 1)}, `"blue"`},
		{"an owner that is another's", []string{owner, strings.Replace(sign, `[{"uid":"1"}]`, `[{"uid":"5"}]`, 1)}, "uid of Shop x"},
		{"one missing", []string{owner}, "missing: Sign s"},
		{"one left over", []string{owner, sign, strings.Replace(sign, `"s"`, `"z"`, 1)}, "left over: Sign z"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want, got := stateOf(viewOf(t, owner, sign), &Subject{}), stateOf(viewOf(t, test.objects...), &Subject{})
			diff := differs(want, got)
			if (diff == "") != (test.want == "") || !strings.Contains(diff, test.want) {
				t.Errorf("expected a difference with %q, got:\n%s", test.want, diff)
			}
		})
	}
}

func TestGeneratedNamesAreOneName(t *testing.T) {
	v := viewOf(t,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a-x1","generateName":"a-"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a-x2","generateName":"a-"}}`)
	s := stateOf(v, &Subject{})
	if s["Pod a-*"] == nil || s["Pod a-* (2)"] == nil {
		t.Errorf("expected Pod a-* and Pod a-* (2), got %v", s)
	}
}

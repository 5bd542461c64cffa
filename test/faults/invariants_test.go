// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// boxes returns a test subject whose objects are Pods. A Pod is considered truly ready if it has the label "true".
func boxes() *Subject {
	return &Subject{Primary: &corev1.Pod{}, Truth: func(_ View, object client.Object) error {
		if object.GetLabels()["true"] == "" {
			return errors.New("the Pod has no label \"true\"")
		}
		return nil
	}}
}

// box returns a Pod with the given generation, observed generation, status of Ready and additional metadata.
func box(t *testing.T, generation, observed int, ready, more string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","uid":"1","generation":%d%s},"spec":{"nodeName":"g%d"},
		"status":{"observedGeneration":%d,"conditions":[{"type":"Ready","status":%q}]}}`, generation, more, generation, observed, ready)
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestBreachesAreFoundInAStory(t *testing.T) {
	const labelled, touched = `,"labels":{"true":"yes"}`, `,"annotations":{"faults.opcrew.io/touched":"1"}`
	type change struct {
		object *unstructured.Unstructured
		by     string
		after  time.Duration
	}
	tests := []struct {
		name  string
		story []change
		want  string // part of the expected violation; empty if none is expected
		slack time.Duration
	}{
		{"ready when it is so", []change{{box(t, 1, 0, "Unknown", labelled), "", 0}, {box(t, 1, 1, "True", labelled), "write 1", 0}}, "", 0},
		{"ready before it is so", []change{{box(t, 1, 0, "Unknown", ""), "", 0}, {box(t, 1, 1, "True", ""), "write 1", 0}}, "the object reports Ready", 0},
		{"ready a moment after it was so", []change{{box(t, 1, 0, "Unknown", labelled), "", 0}, {box(t, 1, 1, "True", ""), "write 1", lag / 2}}, "", 0},
		{"ready long after it was so", []change{
			{box(t, 1, 0, "Unknown", labelled), "", 0}, {box(t, 1, 0, "Unknown", ""), "", 0}, {box(t, 1, 1, "True", ""), "write 1", 2 * lag},
		}, "the object reports Ready", 0},
		{"ready soon after it was created, while views are kept old", []change{
			{box(t, 1, 0, "Unknown", ""), "", 0}, {box(t, 1, 1, "True", ""), "write 1", lag},
		}, "", lag / 2},
		{"ready long after it was created, while views are kept old", []change{
			{box(t, 1, 0, "Unknown", ""), "", 0}, {box(t, 1, 1, "True", ""), "write 1", 2 * lag},
		}, "the object reports Ready", lag / 2},
		{"ready for an older spec", []change{{box(t, 2, 0, "Unknown", ""), "", 0}, {box(t, 2, 1, "True", ""), "write 1", 0}}, "", 0},
		{"the status of an older spec", []change{{box(t, 2, 2, "False", ""), "", 0}, {box(t, 2, 1, "False", ""), "write 1", 0}}, "was 2 and is 1", 0},
		{"a spec that the operator changes", []change{{box(t, 1, 1, "False", ""), "", 0}, {box(t, 2, 1, "False", ""), "write 1", 0}}, "changed the spec", 0},
		{"a spec that the user changes", []change{{box(t, 1, 1, "False", ""), "", 0}, {box(t, 2, 1, "False", ""), "", 0}}, "", 0},
		{"a touch that is undone", []change{{box(t, 1, 1, "False", touched), "", 0}, {box(t, 1, 1, "False", ""), "write 1", 0}}, "is gone", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := history{first: View{scheme: clientgoscheme.Scheme, objects: map[Key]*unstructured.Unstructured{}}}
			now := time.Now()
			for i, c := range test.story {
				now = now.Add(c.after)
				h.events = append(h.events, Event{Key: keyOf(c.object), Object: c.object, New: i == 0, At: now, Write: c.by})
			}
			found := strings.Join(breaches(&h, boxes(), test.slack), "\n")
			if (found == "") != (test.want == "") || !strings.Contains(found, test.want) {
				t.Errorf("expected a violation that contains %q, got %q", test.want, found)
			}
		})
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepatch

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

var foreign = corev1.Taint{Key: "example.com/mine", Effect: corev1.TaintEffectNoSchedule}

func newNode(annotations map[string]string, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", Annotations: annotations}, Spec: corev1.NodeSpec{Taints: taints}}
}

// apply applies a patch as the API server does.
func apply(node *corev1.Node, data []byte) (*corev1.Node, error) {
	before, err := json.Marshal(node)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	after, err := patch.Apply(before)
	if err != nil {
		return nil, err
	}
	out := &corev1.Node{}
	return out, json.Unmarshal(after, out)
}

func all() *Edit {
	e := &Edit{}
	e.Cordon(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	e.Annotate(machineorder.DesiredConfig, "rendered-a")
	e.Taint(Updating, true)
	e.Taint(Startup, false)
	return e
}

func TestAPatchChangesOnlyWhatOpcrewOwns(t *testing.T) {
	for name, node := range map[string]*corev1.Node{
		"a bare node":            newNode(nil),
		"a node with keys":       newNode(map[string]string{"a": "b", machineorder.DesiredConfig: "rendered-b"}, foreign),
		"a node that is tainted": newNode(map[string]string{"a": "b"}, Startup, foreign),
	} {
		patch, needed := all().Patch(node)
		if !needed {
			t.Fatalf("%s: expected a patch", name)
		}
		got, err := apply(node, patch.Data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !got.Spec.Unschedulable || got.Annotations[CordonAnnotation] == "" || got.Annotations[machineorder.DesiredConfig] != "rendered-a" || !Has(got, Updating) || Has(got, Startup) {
			t.Errorf("%s: expected the edit, got %+v", name, got)
		}
		if got.Annotations["a"] != node.Annotations["a"] || Has(got, foreign) != Has(node, foreign) {
			t.Errorf("%s: expected keys of others to stay, got %+v", name, got)
		}
		if again, needed := all().Patch(got); needed {
			t.Errorf("%s: expected no second patch, got %s", name, again.Data)
		}
	}
}

func TestAPatchFailsIfTheNodeHasChanged(t *testing.T) {
	node := newNode(map[string]string{machineorder.DesiredConfig: "rendered-b"}, foreign)
	patch, _ := all().Patch(node)
	for name, change := range map[string]func(*corev1.Node){
		"a new order":         func(n *corev1.Node) { n.Annotations[machineorder.DesiredConfig] = "rendered-c" },
		"a new state":         func(n *corev1.Node) { n.Annotations[machineorder.State] = machineorder.StateWorking },
		"a request":           func(n *corev1.Node) { n.Annotations[machineorder.DesiredDrain] = "drain-x" },
		"a cordon by a user":  func(n *corev1.Node) { n.Spec.Unschedulable = true },
		"another taint":       func(n *corev1.Node) { n.Spec.Taints = nil },
		"a node of that name": func(n *corev1.Node) { n.UID = "v" },
	} {
		other := node.DeepCopy()
		change(other)
		if _, err := apply(other, patch.Data); err == nil {
			t.Errorf("expected the patch to fail after %s", name)
		}
	}
}

func TestTheTimeOfACordonIsRecorded(t *testing.T) {
	node := newNode(nil)
	patch, _ := all().Patch(node)
	got, err := apply(node, patch.Data)
	if at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC); err != nil || !Cordoned(got).Equal(at) {
		t.Errorf("expected the cordon of %s, got %v (%v)", at, got, err)
	}
	for _, text := range []string{"", "true", "now"} {
		if got := Cordoned(newNode(map[string]string{CordonAnnotation: text})); !got.IsZero() {
			t.Errorf("expected no time in %q, got %s", text, got)
		}
	}
}

func TestAnUncordonRemovesTheRecord(t *testing.T) {
	node := newNode(map[string]string{CordonAnnotation: "2026-11-25T12:00:00Z"})
	node.Spec.Unschedulable = true
	e := &Edit{}
	e.Uncordon()
	patch, _ := e.Patch(node)
	got, err := apply(node, patch.Data)
	if err != nil || got.Spec.Unschedulable || got.Annotations[CordonAnnotation] != "" {
		t.Errorf("expected a schedulable node without the record, got %+v (%v)", got, err)
	}
}

func TestTheTimeOfAnUpdateIsThatOfTheConfiguration(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	node := newNode(map[string]string{UpdatedAnnotation: Stamp("rendered-a", at)})
	if got := Updated(node, "rendered-a"); !got.Equal(at) {
		t.Errorf("expected %s, got %s", at, got)
	}
	for _, text := range []string{"", "rendered-a", "rendered-a now", strings.Repeat(" ", 9)} {
		node.Annotations[UpdatedAnnotation] = text
		if got := Updated(node, "rendered-a"); !got.IsZero() {
			t.Errorf("expected no time in %q, got %s", text, got)
		}
	}
	node.Annotations[UpdatedAnnotation] = Stamp("rendered-a", at)
	if got := Updated(node, "rendered-b"); !got.IsZero() {
		t.Errorf("expected no time for another configuration, got %s", got)
	}
}

func TestAReportThatCannotBeReadIsNone(t *testing.T) {
	for _, text := range []string{"", "x", "{}", `{"config":"A","phase":"Done"}`} {
		if got := Report(newNode(map[string]string{machineorder.ReportAnnotation: text})); got.Config != "" {
			t.Errorf("expected no report in %q, got %+v", text, got)
		}
	}
}

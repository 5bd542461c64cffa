// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/fields/table"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// patient is an object in the cluster that the test changes again and again.
type patient struct {
	*testing.T
	c         *cluster
	declared  []manifest.Document
	namespace string
	name      string
	restarts  int32
}

// The possible outcomes of a change.
const (
	refused   = "refused with a message"
	settled   = "accepted, and Ready describes the new state"
	gone      = "accepted, and the object was deleted as documented"
	permanent = "accepted, but reverting the change is refused with a message"
)

func newPatient(t *testing.T, c *cluster, declared []manifest.Document, namespace, name string) *patient {
	p := &patient{t, c, declared, namespace, name, c.operatorRestarts(t)}
	p.create()
	return p
}

// create creates the objects of all documents. The last one is the object that the test changes.
func (p *patient) create() {
	for _, doc := range p.declared {
		object := &unstructured.Unstructured{Object: table.Named(doc.Object.Object, p.name).(map[string]any)}
		if namespaced, err := p.c.IsObjectNamespaced(object); err != nil {
			p.Error(err)
		} else if namespaced {
			object.SetNamespace(p.namespace)
		}
		if err := p.c.Create(p.Context(), object); client.IgnoreAlreadyExists(err) != nil {
			p.Errorf("creating %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
	p.until("an object is Ready before it is mutated", p.well)
}

// object reads the object that the test changes.
func (p *patient) object() (*unstructured.Unstructured, error) {
	o := p.declared[len(p.declared)-1].Object
	read := &unstructured.Unstructured{}
	read.SetGroupVersionKind(o.GroupVersionKind())
	key := client.ObjectKey{Name: p.name}
	if namespaced, err := p.c.IsObjectNamespaced(read); err != nil {
		return nil, err
	} else if namespaced {
		key.Namespace = p.namespace
	}
	return read, p.c.Get(p.Context(), key, read)
}

// endure changes the object, reverts the change, and returns the outcome.
func (p *patient) endure(m table.Mutation) string {
	o, err := p.object()
	if err != nil {
		p.Errorf("%s: reading the object before: %v", m.Name, err)
		return "failed"
	}
	raw, err := json.Marshal(table.Named(m.Change, p.name))
	if err != nil {
		p.Fatal(err)
	}
	wanted := o.Object["spec"]
	mutated := o.DeepCopy()
	err = p.c.Patch(p.Context(), mutated, client.RawPatch(types.MergePatchType, raw), client.FieldValidation("Strict"))
	switch {
	case err != nil && strings.TrimSpace(err.Error()) != "" && (apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)):
		return refused
	case err != nil:
		p.Errorf("%s: expected a refusal with a reason, got %v", m.Name, err)
		return "failed"
	}
	outcome := p.settles(m)
	p.expectNoRestart(m)
	if outcome == gone {
		p.create()
		return gone
	}
	if !p.undo(m, wanted) {
		return permanent
	}
	return outcome
}

// settles waits until the status of the object describes the changed spec.
func (p *patient) settles(m table.Mutation) string {
	outcome := settled
	p.until(m.Name+": the status describes the changed spec", func(o *unstructured.Unstructured) error {
		if o == nil {
			outcome = gone
			return nil
		}
		return observed(o)
	})
	return outcome
}

// undo restores the previous spec and waits until the object is Ready. If the API server refuses to restore the spec,
// undo recreates the object.
func (p *patient) undo(m table.Mutation, wanted any) bool {
	o, err := p.object()
	for err == nil {
		o.Object["spec"] = wanted
		if err = p.c.Update(p.Context(), o); !apierrors.IsConflict(err) {
			break
		}
		o, err = p.object()
	}
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		p.remake()
		return false
	}
	if err != nil {
		p.Errorf("%s: reverting the change: %v", m.Name, err)
		return true
	}
	if !p.until(m.Name+": the object is Ready again after the change was reverted", p.well) {
		p.remake()
	}
	return true
}

func (p *patient) remake() {
	o, err := p.object()
	if err == nil {
		err = p.c.Delete(p.Context(), o)
	}
	if err != nil {
		p.Error(err)
	}
	p.until("the object is gone", func(o *unstructured.Unstructured) error {
		if o != nil {
			return errors.New("the object still exists")
		}
		return nil
	})
	p.create()
}

// until repeats check until it returns nil, and reports whether that happened in time. check gets nil if the object
// does not exist.
func (p *patient) until(what string, check func(*unstructured.Unstructured) error) bool {
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		o, err := p.object()
		if apierrors.IsNotFound(err) {
			o, err = nil, nil
		}
		if err == nil {
			err = check(o)
		}
		if err == nil {
			return true
		}
		if time.Now().After(deadline) {
			p.Errorf("expected within 3 minutes: %s: %v", what, err)
			return false
		}
	}
}

// observed returns an error unless the status describes the current spec and Ready has a message. A MachineConfig has no
// status.
func observed(o *unstructured.Unstructured) error {
	if _, has := o.Object["status"]; !has {
		return nil
	}
	generation, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	ready := readyOf(o)
	if generation != o.GetGeneration() || ready["message"] == "" || ready["message"] == nil {
		return fmt.Errorf("generation %d, observed %d, Ready %v", o.GetGeneration(), generation, ready)
	}
	return nil
}

// well returns an error unless the object is Ready for its current spec. If the object's manifest has the comment
// "settled", the object need not be Ready.
func (p *patient) well(o *unstructured.Unstructured) error {
	if o == nil {
		return errors.New("the object does not exist")
	}
	if err := observed(o); err != nil {
		return err
	}
	if _, has := o.Object["status"]; !has {
		return nil
	}
	_, waits := p.declared[len(p.declared)-1].Comment("settled")
	if ready := readyOf(o); ready["status"] != "True" && !waits {
		return fmt.Errorf("Ready is %v", ready)
	}
	return nil
}

func readyOf(o *unstructured.Unstructured) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == "Ready" {
			return condition
		}
	}
	return map[string]any{}
}

func (p *patient) expectNoRestart(m table.Mutation) {
	if now := p.c.operatorRestarts(p.T); now != p.restarts {
		p.Errorf("%s: the operator restarted", m.Name)
		p.restarts = now
	}
}

// operatorRestarts returns how often containers of the operator have restarted.
func (c *cluster) operatorRestarts(t *testing.T) int32 {
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(namespace)); err != nil {
		t.Error(err)
	}
	var sum int32
	for _, pod := range pods.Items {
		for _, status := range pod.Status.ContainerStatuses {
			sum += status.RestartCount
		}
	}
	return sum
}

// expectNoPanic fails the test if the logs of the operator contain a panic since the given time.
func (c *cluster) expectNoPanic(t *testing.T, since time.Time) {
	t.Helper()
	for _, layer := range []string{"machines", "applications", "data"} {
		log := c.kubectl(t, "logs", "-n", namespace, "deployment/opcrew-"+layer, "--all-pods", "--since-time", since.UTC().Format(time.RFC3339))
		for line := range strings.Lines(log) {
			if strings.Contains(line, "panic") {
				t.Errorf("expected no panic of the operator, layer %s logged %s", layer, line)
			}
		}
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lag is how long the status of an object may be out of date after a change.
const lag = 900 * time.Millisecond

// breaches replays a history. It returns the violations of the kind's own invariants, and of the invariants that hold
// for every kind.
func breaches(story *history, s *Subject, slack time.Duration) []string {
	var broken []string
	claims := &claims{subject: s, slack: slack, last: map[spec]time.Time{}, first: map[spec]time.Time{}}
	all := append([]Invariant{
		{"the operator preserves what another client wrote", othersSurvive},
		{"only the user changes the spec", s.userOwns},
		{"the observed generation never decreases", s.neverBack},
		{"an object that reports Ready is ready", claims.check},
	}, s.Invariants...)
	reported := map[string]bool{}
	story.replay(func(before, after View, e Event) {
		for _, invariant := range all {
			err := invariant.Check(before, after, e)
			if err == nil || reported[invariant.Name+e.Key.String()] {
				continue
			}
			reported[invariant.Name+e.Key.String()] = true
			by := "another user's change"
			if e.Write != "" {
				by = e.Write
			}
			broken = append(broken, fmt.Sprintf("invariant %q is broken at %s by %s: %v", invariant.Name, e.Key, by, err))
		}
	})
	return broken
}

// othersSurvive holds if a write of the operator preserves the change that another client has just made.
func othersSurvive(before, _ View, e Event) error {
	was := before.objects[e.Key]
	if e.Write == "" || was == nil || e.Gone || was.GetUID() != e.Object.GetUID() {
		return nil
	}
	if value, touched := was.GetAnnotations()[touchedKey]; touched && e.Object.GetAnnotations()[touchedKey] != value {
		return fmt.Errorf("the operator removed the annotation that another client had just set, so the annotation is gone")
	}
	return nil
}

func (s *Subject) isPrimary(v View, e Event) bool {
	return e.Key.Kind == kindOf(s.Primary, v.scheme).Kind
}

// userOwns holds if the operator does not change the spec that the user wrote, except Subject.OperatorField.
func (s *Subject) userOwns(before, after View, e Event) error {
	was := before.objects[e.Key]
	if !s.isPrimary(after, e) || e.Write == "" || was == nil || was.GetUID() != e.Object.GetUID() {
		return nil
	}
	if !reflect.DeepEqual(s.specOfUser(was), s.specOfUser(e.Object)) {
		return fmt.Errorf("the operator changed the spec")
	}
	return nil
}

// specOfUser returns the spec without the field that the operator writes.
func (s *Subject) specOfUser(object *unstructured.Unstructured) any {
	spec, isMap := object.Object["spec"].(map[string]any)
	if !isMap || s.OperatorField == "" {
		return object.Object["spec"]
	}
	spec = maps.Clone(spec)
	delete(spec, s.OperatorField)
	return spec
}

// neverBack holds if status.observedGeneration never decreases.
func (s *Subject) neverBack(before, after View, e Event) error {
	was := before.objects[e.Key]
	if !s.isPrimary(after, e) || was == nil || was.GetUID() != e.Object.GetUID() {
		return nil
	}
	_, old := Ready(was)
	if _, now := Ready(e.Object); now < old {
		return fmt.Errorf("the observed generation was %d and is %d", old, now)
	}
	return nil
}

// claims checks that every object that reports Ready truly is ready. It remembers what it has seen of each object.
type claims struct {
	subject *Subject
	slack   time.Duration
	first   map[spec]time.Time // when the object was first seen with this spec
	last    map[spec]time.Time // when the object last was truly ready
}

// spec identifies one generation of one object.
type spec struct {
	types.UID
	generation int64
}

func specOf(u *unstructured.Unstructured) spec { return spec{u.GetUID(), u.GetGeneration()} }

// check holds if an object that reports Ready is ready at that moment, or was shortly before. The status need not
// reflect later changes yet.
func (c *claims) check(before, after View, e Event) error {
	kind := kindOf(c.subject.Primary, after.scheme).Kind
	truth := map[spec]error{}
	for _, object := range after.Objects(kind) {
		err := c.truth(after, object)
		truth[specOf(object)] = err
		if _, seen := c.first[specOf(object)]; !seen {
			c.first[specOf(object)] = e.At
		}
		if err == nil {
			c.last[specOf(object)] = e.At
		}
	}
	if e.Gone || !c.subject.isPrimary(after, e) || !claimsAgain(before.objects[e.Key], e.Object) {
		return nil
	}
	err := truth[specOf(e.Object)]
	if err == nil {
		return nil
	}
	since, ever := c.last[specOf(e.Object)]
	if !ever && c.slack > 0 {
		since = c.first[specOf(e.Object)] // the object may have become unready while the operator's view was kept stale
	}
	if !since.IsZero() && e.At.Sub(since) < lag+c.slack {
		return nil
	}
	return fmt.Errorf("the object reports Ready, but %w", err)
}

func (c *claims) truth(v View, object *unstructured.Unstructured) error {
	typed := reflect.New(reflect.TypeOf(c.subject.Primary).Elem()).Interface().(client.Object)
	if err := decode(object.Object, typed); err != nil {
		return err
	}
	return c.subject.Truth(v, typed)
}

// claimsAgain reports whether an event changed an object's status, and the new status reports Ready for the current
// spec.
func claimsAgain(was, is *unstructured.Unstructured) bool {
	if was != nil && reflect.DeepEqual(was.Object["status"], is.Object["status"]) {
		return false
	}
	ready, observed := Ready(is)
	return ready.Status == "True" && observed == is.GetGeneration()
}

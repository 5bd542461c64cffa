// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
)

// Subject is a kind under attack, and what is known of it from the outside.
type Subject struct {
	// Kind is its entry in the list of kinds.
	Kind kit.Kind
	// CRDs are files and directories of CRDs, relative to the root of the repository;
	// those of the project if empty.
	CRDs []string
	// Namespaced kinds run many cases at once on one server, each in a namespace of its
	// own. The others have a server to themselves.
	Namespaced bool
	// Primary is the kind's own type, as an empty object.
	Primary client.Object
	// Others are all further types that it reads or writes, and those whose objects
	// follow from them, such as Pods.
	Others []client.Object
	// Truth returns nil if the world is as the object says when it is Ready. It is
	// asked of views, so it must not look at anything else.
	Truth func(v View, object client.Object) error
	// Invariants must hold at every single event.
	Invariants []Invariant
	// Mask changes an object that is to be compared, where it may differ from run to
	// run; optional. What every object has (UIDs, versions, times) is masked anyway. An
	// object that is left with nothing, not even a name, is not compared at all.
	Mask func(object *unstructured.Unstructured)
	// Touch changes an object as another client might who works on it at the same time,
	// beside the annotation that it gets in any case; optional. Keys begin with TouchPrefix.
	Touch func(object *unstructured.Unstructured)
	// Uncounted are kinds, such as Pod, of which Kubernetes' own controllers make and delete
	// objects as their timing has it: a StatefulSet that is being deleted may make a Pod again.
	// Or single objects, such as "Secret shared", that belong to no instance of the kind alone.
	Uncounted []string
	// Nodes is how many simulated nodes there are for pods, shared-0 and so on; all cases of a
	// server share them. Kwok plays no pods on a node that comes again under its name.
	Nodes int
	// Server makes what every server is to have beside Kubernetes, such as a simulated store;
	// optional. It lasts until the end of the test.
	Server func(t *testing.T, env *testenv.Env)
	// Workloads are what users do with the kind.
	Workloads []Workload
	// OldLists has the class older-view serve old lists even to a client that insists on
	// new ones, which no server does: for controllers with a protection of their own.
	OldLists bool
	// Patience is how long a match may take, 30 seconds if 0.
	Patience time.Duration
	// Silence is how long nothing must happen for the operator to be at rest: longer than
	// any wait of its own after which it goes on without an event. 650 ms if 0.
	Silence time.Duration
}

// TouchPrefix begins the keys of labels, annotations and taints that the harness puts
// on objects in the part of another client. They are left out of every comparison.
const TouchPrefix = "faults.opcrew.io/"

// Workload is what users do, step by step, and what they expect after each step. Steps
// leave the objects of others in the end as they found them.
type Workload struct {
	Name string
	// World makes what is there before the first step.
	World func(w *World)
	Steps []Step
}

// Step is something that a user does, and what must become of it.
type Step struct {
	Name string
	Do   func(u *User)
	// Until must hold before the next step begins; it says what is missing.
	Until func(v View) error
	// Patience is how long that may take with a fault, the subject's if 0.
	Patience time.Duration
}

// Invariant is what must never be broken, whatever the faults.
type Invariant struct {
	Name string
	// Check gets the views before and after an event.
	Check func(before, after View, e Event) error
}

func (s *Subject) patience() time.Duration {
	if s.Patience == 0 {
		return 30 * time.Second
	}
	return s.Patience
}

func (s *Subject) silence() time.Duration {
	if s.Silence == 0 {
		return 650 * time.Millisecond
	}
	return s.Silence
}

func (s *Subject) types() []client.Object {
	return append([]client.Object{s.Primary}, s.Others...)
}

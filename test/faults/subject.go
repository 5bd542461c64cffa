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

// Subject is a kind under attack, and its external contract.
type Subject struct {
	// Kind is its entry in the list of kinds.
	Kind kit.Registration
	// CRDs are files and directories of CRDs, relative to the root of the repository;
	// those of the project if empty.
	CRDs []string
	// Namespaced kinds run many cases in parallel on one server, each in its own namespace.
	// A case of another kind has a server of its own.
	Namespaced bool
	// Primary is the kind's own type, as an empty object.
	Primary client.Object
	// Others are all other types that the kind reads or writes, and those whose objects
	// result from them, such as Pods.
	Others []client.Object
	// Truth returns nil if the world is as an object claims that reports Ready. It is
	// evaluated on views, so it must not use anything else.
	Truth func(v View, object client.Object) error
	// Invariants must hold at every single event.
	Invariants []Invariant
	// Mask removes fields that may differ between runs from an object before a comparison;
	// optional. Fields of every object (UIDs, versions, times) are masked anyway. An object
	// that is left empty, without a name, is not compared at all.
	Mask func(object *unstructured.Unstructured)
	// Touch changes an object like a concurrent client, in addition to the annotation that it
	// always gets; optional. Keys begin with TouchPrefix.
	Touch func(object *unstructured.Unstructured)
	// Uncounted are kinds, such as Pod, whose objects Kubernetes' controllers create and delete
	// depending on timing: a StatefulSet that is being deleted may recreate a Pod. Also single
	// objects, such as "Secret shared", that several instances of the kind share.
	Uncounted []string
	// Nodes is the number of simulated nodes for pods, shared-0 and so on; all cases of a server
	// share them. Kwok runs no pods on a node that is recreated under its name.
	Nodes int
	// Server creates what every server needs in addition to Kubernetes, such as a simulated
	// store; optional. It lasts until the end of the test.
	Server func(t *testing.T, env *testenv.Env)
	// Workloads are what users do with the kind.
	Workloads []Workload
	// OldLists makes the class older-view serve old lists even to a client that requires new
	// ones, which no server does: for controllers with their own protection.
	OldLists bool
	// Patience is how long a match may take, 30 seconds if 0.
	Patience time.Duration
	// Silence is how long nothing must happen for the operator to be at rest: longer than any
	// timer after which it continues without an event. 650 ms if 0.
	Silence time.Duration
}

// TouchPrefix is the prefix of labels, annotations and taints that the harness sets as
// another client. Comparisons ignore them.
const TouchPrefix = "faults.opcrew.io/"

// Workload is what users do, step by step, and what they expect after each step. In the
// end its steps leave objects of other owners unchanged.
type Workload struct {
	Name string
	// World creates the objects that exist before the first step.
	World func(w *World)
	Steps []Step
}

// Step is a user's action, and the condition that must follow.
type Step struct {
	Name string
	Do   func(u *User)
	// Until must hold before the next step starts; its error says what is missing.
	Until func(v View) error
	// Patience is how long that may take with a fault, the subject's if 0.
	Patience time.Duration
}

// Invariant is a rule that no fault may break.
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

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

// Subject is a kind that the fault tests attack, with the contract that its operator must fulfil.
type Subject struct {
	// Kind is the registration of the kind, as the operator uses it.
	Kind kit.Registration
	// CRDs are files and directories with CRDs, relative to the root of the repository. If it is empty, the project's
	// CRDs are used.
	CRDs []string
	// Namespaced is set if cases can run in parallel on one server, each in its own namespace. Otherwise each case
	// needs a separate server.
	Namespaced bool
	// Primary is an empty object of the kind's own type.
	Primary client.Object
	// Others are empty objects of all other types that the kind reads or writes, and of types that Kubernetes creates
	// as a consequence, such as Pods.
	Others []client.Object
	// Truth returns nil if an object that reports Ready truly is ready. The harness calls it with views of the past, so
	// it must read objects only from the view.
	Truth func(v View, object client.Object) error
	// Invariants must hold at every event.
	Invariants []Invariant
	// Mask removes fields that may differ between runs. It may be nil. The harness itself masks UIDs, versions and
	// times. An object whose content Mask removes completely is not compared.
	Mask func(object *unstructured.Unstructured)
	// OperatorField is the field of the spec that the operator writes, if the API of the kind has one.
	OperatorField string
	// Touch changes an object as a concurrent client would, in addition to the annotation that the harness always sets.
	// The keys of labels, annotations and taints that Touch adds must begin with TouchPrefix. Touch may be nil.
	Touch func(object *unstructured.Unstructured)
	// Uncounted lists kinds, such as Pod, of which Kubernetes creates a varying number of objects. For example, a
	// StatefulSet may recreate a Pod while the test deletes it. An entry such as "Secret shared" names one object by
	// kind and name.
	Uncounted []string
	// Nodes is the number of simulated nodes for pods, named shared-0 and so on. All cases on a server share the nodes,
	// because Kwok runs no pods on a node that was recreated with the same name.
	Nodes int
	// Server creates what every server needs in addition to Kubernetes, such as a simulated store. It may be nil. What
	// it creates lasts until the end of the test.
	Server func(t *testing.T, env *testenv.Env)
	// Workloads are sequences of actions that users typically perform.
	Workloads []Workload
	// OldLists makes the fault class older-view serve old lists even to a client that requires current ones. No real
	// server does this. It tests controllers that protect themselves against old lists.
	OldLists bool
	// Patience limits the time until the condition of a step holds. 0 means 30 seconds.
	Patience time.Duration
	// Silence is how long the operator must make no requests before the harness assumes that it has nothing to do. It
	// must exceed every timer after which the operator continues without an event. 0 means 650 ms.
	Silence time.Duration
}

// TouchPrefix is the prefix of the labels, annotations and taints that the tests set as another client. Comparisons of
// states ignore them.
const TouchPrefix = "faults.opcrew.io/"

// Workload is a sequence of user actions, each with its expected result. At the end, objects of other owners must be
// unchanged.
type Workload struct {
	Name string
	// World creates the objects that exist before the first step.
	World func(w *World)
	Steps []Step
}

// Step is an action of a user, and the condition that must hold afterwards.
type Step struct {
	Name string
	Do   func(u *User)
	// Until returns nil once the condition of the step holds. Otherwise its error says what is missing.
	Until func(v View) error
	// Patience limits how long a run with a fault waits for the condition in Until. 0 means the Patience of the
	// Subject.
	Patience time.Duration
}

// Invariant is a rule that no fault may break.
type Invariant struct {
	Name string
	// Check returns an error if the event violates the rule. It gets the views before and after the event.
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

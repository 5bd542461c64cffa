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
	// Kind is the kind's entry in the list of kinds.
	Kind kit.Registration
	// CRDs are files and directories of CRDs, relative to the root of the repository. If empty, the project's CRDs are
	// used.
	CRDs []string
	// Namespaced is set if cases run in parallel on one server, each in its own namespace. Otherwise each case has a
	// server to itself.
	Namespaced bool
	// Primary is the kind's own type, as an empty object.
	Primary client.Object
	// Others are all other types that the kind reads or writes, and types whose objects result from them, such as Pods.
	Others []client.Object
	// Truth returns nil if an object that reports Ready truly is ready. It is evaluated on views, so it must not use
	// anything else.
	Truth func(v View, object client.Object) error
	// Invariants must hold at every single event.
	Invariants []Invariant
	// Mask removes fields that may differ between runs; optional. UIDs, versions and times are masked anyway. An object
	// that Mask leaves empty, without a name, is not compared.
	Mask func(object *unstructured.Unstructured)
	// Touch changes an object like a concurrent client; optional. The harness sets an annotation in any case. Keys
	// begin with TouchPrefix.
	Touch func(object *unstructured.Unstructured)
	// Uncounted are kinds, such as Pod, whose objects Kubernetes creates and deletes depending on timing: a StatefulSet
	// may recreate a Pod while it is deleted. Single objects that instances share are written "Secret shared".
	Uncounted []string
	// Nodes is the number of simulated nodes for pods, named shared-0 and so on. All cases of a server share them, as
	// Kwok runs no pods on a node that is recreated with the same name.
	Nodes int
	// Server creates what every server needs in addition to Kubernetes, such as a simulated store, until the end of the
	// test; optional.
	Server func(t *testing.T, env *testenv.Env)
	// Workloads are what users do with the kind.
	Workloads []Workload
	// OldLists makes the class older-view serve old lists even to a client that requires current lists. No real server
	// does this; it tests controllers that have their own protection.
	OldLists bool
	// Patience limits how long a condition may take; 0 means 30 seconds.
	Patience time.Duration
	// Silence is how long the operator must be silent to count as at rest. It must exceed every timer after which the
	// operator continues without an event; 0 means 650 ms.
	Silence time.Duration
}

// TouchPrefix is the prefix of labels, annotations and taints that the harness sets as
// another client. Comparisons ignore them.
const TouchPrefix = "faults.opcrew.io/"

// Workload is a series of user actions, and what users expect after each of them. At the end, objects of other owners
// must be unchanged.
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
	// Until must return nil before the next step starts; its error says what is missing.
	Until func(v View) error
	// Patience limits how long Until may take with a fault; 0 means the subject's Patience.
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

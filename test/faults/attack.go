// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/opcrew/opcrew/test/testenv"
)

// Attack runs the workloads of a kind first without faults, and then with faults, and compares the results. It attacks
// several kinds in parallel, because a run mostly waits until the operator stops writing.
func Attack(t *testing.T, s Subject) {
	t.Parallel()
	t.Logf("replay with -args -faults.seed %d", seed())
	a := newAttack(t, &s)
	for _, w := range s.Workloads {
		a.add(w)
	}
	a.references()
	if t.Failed() {
		return // each case with a fault is compared with these runs without faults
	}
	if *listFlag {
		a.list()
		return
	}
	a.all()
	a.report()
}

// attack holds the state of the fault tests of one kind.
type attack struct {
	t       *testing.T
	subject *Subject
	kinds   []schema.GroupVersionKind
	lanes   []*testenv.Env
	works   []Workload
	begin   time.Time

	mu       sync.Mutex
	refs     map[string]*reference
	outcomes []tried
}

// reference is the run of a workload without faults, with which runs with faults are compared. The first case that
// needs the reference starts it.
type reference struct {
	once sync.Once
	*outcome
}

func newAttack(t *testing.T, s *Subject) *attack {
	listen()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, s.Kind.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	a := &attack{t: t, subject: s, begin: time.Now(), refs: map[string]*reference{}, lanes: lanes(t, s, scheme)}
	for _, object := range s.types() {
		a.kinds = append(a.kinds, kindOf(object, scheme))
	}
	return a
}

func (a *attack) add(w Workload) {
	a.works = append(a.works, withDeletion(a.subject, w, a.kinds[0].Kind))
}

// run executes a workload once on a test server, with the fault of case c if c is not nil.
func (a *attack) run(t *testing.T, env *testenv.Env, w Workload, c *Case, ref *outcome) *outcome {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	defer cancel()
	j := newJournal()
	r := &run{
		t: t, ctx: ctx, env: env, subject: a.subject, work: w, reference: ref, kinds: a.kinds,
		journal: j, wire: newWire(j), baseline: map[Key]bool{}, crashed: make(chan *instance, 1000),
		user: &User{ctx: ctx, client: env.Client, root: env.Root},
	}
	r.user.patient = func() { r.letGo(false) }
	if c != nil {
		c.arm(r)
	}
	return r.execute()
}

// reference returns the outcome of running a workload without faults. It runs the workload only once.
func (a *attack) reference(t *testing.T, env *testenv.Env, name string, w Workload) *outcome {
	a.mu.Lock()
	ref := a.refs[name]
	if ref == nil {
		ref = &reference{}
		a.refs[name] = ref
	}
	a.mu.Unlock()
	ref.once.Do(func() {
		ref.outcome = &outcome{problems: []string{"the reference came to no end"}, journal: newJournal()}
		// Run the workload without faults in a separate subtest. The subtest deletes its objects at its end, before the
		// case with a fault creates its own objects.
		t.Run("reference", func(t *testing.T) { ref.outcome = a.run(t, env, w, nil, nil) })
	})
	return ref.outcome
}

// plan returns the input from which the fault classes derive the cases of a workload. The workload must already have
// run without faults.
func (a *attack) plan(w Workload) plan {
	p := plan{subject: a.subject, work: w, ref: a.refs[w.Name].outcome}
	for _, kind := range a.kinds {
		mapping, err := a.lanes[0].Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			a.t.Fatal(err)
		}
		p.resources = append(p.resources, mapping.Resource.Resource)
	}
	return p
}

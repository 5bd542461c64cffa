// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const (
	ready    = customv1.MicroServiceDeployReady
	rolled   = customv1.MicroServiceDeployRolledOut
	children = customv1.MicroServiceDeployChildrenReady

	// placeholder is not a valid image. It is the value of spec.image in the manifest of the tutorial article that this
	// API comes from.
	placeholder = "just a image url"
	oldImage    = "nginx:1.26"
	newImage    = "nginx:1.27"
)

// shop is the environment of a test: the operator, simulated nodes, a namespace, and the name of an object in it. The
// user creates and edits the object; if user is nil, an administrator does.
type shop struct {
	*testing.T
	ns, name string
	operator *operator.Process
	user     *operator.Tenant
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOf(t, env.Operator)
}

func newShopOf(t *testing.T, start func(*testing.T) *operator.Process) *shop {
	t.Helper()
	// Each test uses new node names, because kwok simulates no pods on a node that is recreated under its old name.
	shops++
	env.Nodes(t, 2, testenv.NodeSpec{Prefix: fmt.Sprint("shop", shops)})
	s := &shop{T: t, ns: env.Namespace(t), name: "web", operator: start(t)}
	env.Clear(t, &customv1.MicroServiceDeployList{}, s.ns)
	return s
}

var shops int

// named returns a copy of s for the object with the given name.
func (s *shop) named(name string) *shop {
	return &shop{T: s.T, ns: s.ns, name: name, operator: s.operator, user: s.user}
}

// elsewhere returns a shop in another namespace, for an object with the given name.
func (s *shop) elsewhere(name string) *shop {
	other := &shop{T: s.T, ns: env.Namespace(s.T), name: name, operator: s.operator}
	env.Clear(s.T, &customv1.MicroServiceDeployList{}, other.ns)
	return other
}

func (s *shop) create(options ...option) {
	s.Helper()
	if err := env.As(s.user).Create(s.Context(), s.object(options...)); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) object(options ...option) *customv1.MicroServiceDeploy {
	m := &customv1.MicroServiceDeploy{}
	m.Namespace, m.Name, m.Spec.MsName, m.Spec.Image = s.ns, s.name, "web", oldImage
	for _, option := range options {
		option(m)
	}
	return m
}

// make creates the given object, which may have any type.
func (s *shop) make(object client.Object) {
	s.Helper()
	if object.GetNamespace() == "" {
		object.SetNamespace(s.ns)
	}
	if err := env.Client.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// edit changes the object as a user would.
func (s *shop) edit(options ...option) {
	s.Helper()
	m := s.get()
	before := m.DeepCopy()
	for _, option := range options {
		option(m)
	}
	if err := env.As(s.user).Patch(s.Context(), m, client.MergeFrom(before), client.FieldOwner("kubectl-edit")); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) get() *customv1.MicroServiceDeploy {
	s.Helper()
	m := &customv1.MicroServiceDeploy{}
	s.read(m)
	return m
}

// read reads the object that has the type of the argument and the name s.name.
func (s *shop) read(object client.Object) {
	s.Helper()
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, object); err != nil {
		s.Fatalf("reading %T %s: %v", object, s.name, err)
	}
}

// there reports whether an object of the given type with the name s.name exists.
func (s *shop) there(object client.Object) bool {
	s.Helper()
	err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, object)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return err == nil
}

// patch changes the object of the given type with the name s.name, as another client would.
func (s *shop) patch(object client.Object, merge string) {
	s.Helper()
	s.read(object)
	if err := env.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner("another")); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) remove(object client.Object) {
	s.Helper()
	s.read(object)
	if err := env.Client.Delete(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// await waits until the status describes the current spec, the condition has the given status and reason, and the
// message of the condition contains the words.
func (s *shop) await(kind, statusReason string, words ...string) *customv1.MicroServiceDeploy {
	s.Helper()
	var m *customv1.MicroServiceDeploy
	operator.Until(s.T, fmt.Sprintf("%s of %s is %s and says %q", kind, s.name, statusReason, words), func() error {
		m = s.get()
		c := meta.FindStatusCondition(m.Status.Conditions, kind)
		switch {
		case c == nil:
			return errors.New("there is no such condition")
		case m.Status.ObservedGeneration != m.Generation:
			return fmt.Errorf("the status is about generation %d, the spec is %d", m.Status.ObservedGeneration, m.Generation)
		case fmt.Sprintf("%s %s", c.Status, c.Reason) != statusReason:
			return fmt.Errorf("it is %s %s: %s", c.Status, c.Reason, c.Message)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				return fmt.Errorf("it says %q", c.Message)
			}
		}
		return nil
	})
	return m
}

// awaitWithout waits until a condition is not set.
func (s *shop) awaitWithout(kind string) {
	s.Helper()
	operator.Until(s.T, "there is no condition "+kind, func() error {
		if c := meta.FindStatusCondition(s.get().Status.Conditions, kind); c != nil {
			return fmt.Errorf("it is %s %s: %s", c.Status, c.Reason, c.Message)
		}
		return nil
	})
}

// settled waits until the operator makes no more API calls.
func (s *shop) settled() { s.Helper(); env.Settled(s.T, env.Audit.Mark(s.T)) }

// childWrites returns the operator's writes except writes of the status.
func childWrites(calls testenv.Calls) testenv.Calls {
	return calls.Writes().Where(func(c testenv.Call) bool { return c.Resource != "microservicedeploys" })
}

// ownWrites returns the writes of objects that belong to a single MicroServiceDeploy. It leaves out the shared quota,
// which changes before and after every rollout.
func ownWrites(calls testenv.Calls) testenv.Calls {
	return childWrites(calls).Where(func(c testenv.Call) bool { return c.Resource != "resourcequotas" })
}

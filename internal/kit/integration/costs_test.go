// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// cost is the number of API calls by verb and resource, such as "patch configmaps": 1.
type cost map[string]int

var free = cost{}

// creation returns the API calls that create a child. repair returns the API calls that change one.
func creation(resource string) cost {
	c := cost{"get " + resource: 1, "patch " + resource: 1}
	c["get configmaps"]++ // this read checks whether the owner still exists
	return c
}
func repair(resource string) cost { return cost{"patch " + resource: 1} }

// spends expects that a process makes exactly these API calls while do runs.
func (p *process) spends(want cost, do func()) {
	p.t.Helper()
	mark := env.Audit.Mark(p.t)
	do()
	calls := env.Audit.Since(p.t, mark).By(p.user).Counted()
	if diff := cmp.Diff(map[string]int(want), calls.Tally()); diff != "" {
		p.t.Errorf("calls at the API server (-expected +got):\n%s%s", diff, calls)
	}
}

// ensures calls Ensure for one child, and expects an action and its API calls. Then it waits until the cache shows the
// result.
func (p *process) ensures(owner client.Object, child ensure.Child, want ensure.Action, costs cost) ensure.Result {
	p.t.Helper()
	var result ensure.Result
	p.spends(costs, func() { result = p.ensure(owner, child) })
	if result.Action != want {
		p.t.Fatalf("%s: %s (%s), expected %s", result.Ref, result.Action, result.Message, want)
	}
	if maps.Equal(costs, free) || want == ensure.Taken || want == ensure.Contested || want == ensure.Waiting {
		return result
	}
	p.catchesUp(result.Ref)
	return result
}

func (p *process) ensure(owner client.Object, child ensure.Child) ensure.Result {
	p.t.Helper()
	result, err := p.Ensure(p.t.Context(), owner, child, false)
	if err != nil {
		p.t.Fatalf("ensuring a child: %v", err)
	}
	return result
}

// catchesUp waits until the cache shows the current version of an object on the server, or shows that the object is
// gone.
func (p *process) catchesUp(ref ensure.Ref) {
	p.t.Helper()
	eventually.True(p.t, eventually.Long, "the cache has "+ref.String()+" as the server has it", func() error {
		cached, live := newOf(p.t, ref), newOf(p.t, ref)
		if err := client.IgnoreNotFound(p.client.Get(p.t.Context(), ref.ObjectKey, cached)); err != nil {
			return err
		}
		if err := client.IgnoreNotFound(env.Client.Get(p.t.Context(), ref.ObjectKey, live)); err != nil {
			return err
		}
		if ref.Kind != "Widget" && live.GetLabels()["app.kubernetes.io/managed-by"] != "opcrew" {
			live.SetResourceVersion("")
		}
		if cached.GetResourceVersion() != live.GetResourceVersion() {
			return fmt.Errorf("it has version %q, the server %q", cached.GetResourceVersion(), live.GetResourceVersion())
		}
		return nil
	})
}

func newOf(t *testing.T, ref ensure.Ref) client.Object {
	t.Helper()
	object, err := scheme.New(ref.GroupVersionKind)
	if err != nil {
		t.Fatalf("no type for %s: %v", ref, err)
	}
	return object.(client.Object)
}

// newOwner creates an owner for the children of a test.
func newOwner(t *testing.T, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	create(t, owner)
	return owner
}

func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := env.Client.Create(t.Context(), object); err != nil {
			t.Fatalf("creating %T %s: %v", object, object.GetName(), err)
		}
	}
}

// current reads an object from the API server.
func current[O client.Object](t *testing.T, object O) O {
	t.Helper()
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatalf("reading %T %s: %v", object, object.GetName(), err)
	}
	return object
}

// edit changes an object with a JSON or merge patch, as another field manager.
func edit(t *testing.T, who string, object client.Object, patch string) {
	t.Helper()
	kind := types.MergePatchType
	if patch[0] == '[' {
		kind = types.JSONPatchType
	}
	err := env.Client.Patch(t.Context(), object, client.RawPatch(kind, []byte(patch)), client.FieldOwner(who))
	if err != nil {
		t.Fatalf("%s changes %T %s: %v", who, object, object.GetName(), err)
	}
}

// withoutStatus returns an object without its status and without the annotation that its controller sets.
func withoutStatus(t *testing.T, object client.Object) map[string]any {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "annotations", "deployment.kubernetes.io/revision")
	return content
}

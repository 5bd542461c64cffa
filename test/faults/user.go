// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/manifest"
)

// User acts on objects as people and other programs do. If the server returns an error, the test case ends.
type User struct {
	ctx       context.Context
	client    client.Client
	root      string
	namespace string
	// patient, if set, is called if an action takes longer than expected.
	patient func()
}

// stopped is the panic value with which a step ends the test case. The function attempt recovers the panic.
type stopped struct{ error }

func must(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// ApplyFile applies the objects of YAML files by server-side apply. Paths are relative to the root of the repository.
func (u *User) ApplyFile(paths ...string) {
	for _, path := range paths {
		docs, err := manifest.Read(u.root + "/" + path)
		must(err)
		for _, doc := range docs {
			u.apply(doc.Object)
		}
	}
}

// Apply applies the objects of a YAML text.
func (u *User) Apply(text string) {
	for docs := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(text), 4096); ; {
		object := &unstructured.Unstructured{}
		err := docs.Decode(object)
		if errors.Is(err, io.EOF) {
			return
		}
		must(err)
		u.apply(object)
	}
}

func (u *User) apply(object *unstructured.Unstructured) {
	u.place(object)
	must(u.client.Apply(u.ctx, client.ApplyConfigurationFromUnstructured(object),
		client.FieldOwner(testenv.FieldManager), client.ForceOwnership))
}

// Create creates an object. If its type is namespaced, it creates the object in the run's namespace.
func (u *User) Create(object client.Object) {
	u.place(object)
	must(u.client.Create(u.ctx, object))
}

// Delete deletes the object with this name. It uses background propagation, as kubectl does.
func (u *User) Delete(name string, of client.Object) {
	of.SetName(name)
	u.place(of)
	must(client.IgnoreNotFound(u.client.Delete(u.ctx, of, client.PropagationPolicy("Background"))))
}

// List reads all objects of a kind in the run's namespace. Use it for objects with generated names.
func (u *User) List(list client.ObjectList, opts ...client.ListOption) {
	must(u.client.List(u.ctx, list, append(opts, u.everywhere())...))
}

// Patch changes the object with this name by a JSON merge patch.
func (u *User) Patch(name string, of client.Object, merge string) {
	of.SetName(name)
	u.place(of)
	must(u.client.Patch(u.ctx, of, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner(testenv.FieldManager)))
}

// PatchStatus changes the status of the object with this name by a JSON merge patch, as the object's controller would.
func (u *User) PatchStatus(name string, of client.Object, merge string) {
	of.SetName(name)
	u.place(of)
	must(u.client.Status().Patch(u.ctx, of, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner(testenv.FieldManager)))
}

// Label sets a label of an object. If value is nil, it removes the label.
func (u *User) Label(name string, of client.Object, key string, value *string) {
	text := "null"
	if value != nil {
		text = fmt.Sprintf("%q", *value)
	}
	u.Patch(name, of, fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, key, text))
}

// Must ends the step if err is not nil, for example because a value that the step needs is not known yet.
func (u *User) Must(err error) { must(err) }

// awaitGone waits at most the given time until an object is gone, and reports whether it is.
func (u *User) awaitGone(object client.Object, most time.Duration) bool {
	for deadline := time.Now().Add(most); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if apierrors.IsNotFound(u.client.Get(u.ctx, client.ObjectKeyFromObject(object), object)) {
			return true
		}
	}
	return false
}

// place sets the namespace of an object of a namespaced type to the run's namespace.
func (u *User) place(object client.Object) {
	if u.namespace == "" || object.GetNamespace() != "" {
		return
	}
	namespaced, err := u.client.IsObjectNamespaced(object)
	must(err)
	if namespaced {
		object.SetNamespace(u.namespace)
	}
}

// kind returns the kind of an object's type, without a suffix such as List.
func (u *User) kind(of client.Object, ending string) schema.GroupVersionKind {
	kind, err := apiutil.GVKForObject(of, u.client.Scheme())
	must(err)
	kind.Kind += ending
	return kind
}

// everywhere returns a list option for the namespace of the run.
func (u *User) everywhere() client.ListOption { return client.InNamespace(u.namespace) }

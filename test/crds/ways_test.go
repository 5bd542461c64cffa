// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// way is a way in which a user sends a manifest to the API server, such as create or server-side apply. All ways treat
// an unknown field as an error, as kubectl does by default.
type way struct {
	name   string
	apply  bool
	dryRun bool
}

var ways = []way{
	{name: "create"},
	{name: "create --dry-run=server", dryRun: true},
	{name: "apply --server-side", apply: true},
	{name: "apply --server-side --dry-run=server", apply: true, dryRun: true},
}

const (
	strict  = client.FieldValidation("Strict")
	manager = client.FieldOwner("kubectl")
)

// check sends the row's manifest, and returns an error unless the server responds as expected. Afterwards it deletes
// the object.
func (w way) check(ctx context.Context, c client.Client, r row) (err error) {
	obj := r.obj.DeepCopy()
	if err := namespaced(c, obj); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove(ctx, c, obj)) }()
	if r.old != nil {
		old := r.old.DeepCopy()
		old.SetNamespace(obj.GetNamespace())
		if err := (way{apply: w.apply}).send(ctx, c, old); err != nil {
			return fmt.Errorf("the object to update from was refused: %w", err)
		}
		if !w.apply {
			obj.SetResourceVersion(old.GetResourceVersion())
		}
	}
	if err := judge(w.send(ctx, c, obj), w.expected(r)); err != nil {
		return err
	}
	if r.want == "" && !w.dryRun {
		return decodes(ctx, c, obj)
	}
	return nil
}

// expected returns a part of the message with which the server must refuse the row's manifest. It returns "" if the
// server must accept the manifest.
func (w way) expected(r row) string {
	if w.apply {
		return r.wantApply
	}
	return r.want
}

// send creates, replaces or applies obj. Client-side apply is not tested: for a single user, it has the same effect as
// replacing.
func (w way) send(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	switch {
	case w.apply:
		content, err := obj.MarshalJSON()
		if err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		options := []client.PatchOption{strict, manager}
		if w.dryRun {
			options = append(options, client.DryRunAll)
		}
		return c.Patch(ctx, obj, client.RawPatch(types.ApplyPatchType, content), options...)
	case obj.GetResourceVersion() != "":
		options := []client.UpdateOption{strict, manager}
		if w.dryRun {
			options = append(options, client.DryRunAll)
		}
		return c.Update(ctx, obj, options...)
	default:
		options := []client.CreateOption{strict, manager}
		if w.dryRun {
			options = append(options, client.DryRunAll)
		}
		return c.Create(ctx, obj, options...)
	}
}

// judge returns an error unless the server's response matches want. An empty want means that the server must accept the
// manifest.
func judge(answer error, want string) error {
	switch {
	case want == "" && answer != nil:
		return fmt.Errorf("the server should accept the manifest, but refuses it: %w", answer)
	case want != "" && answer == nil:
		return fmt.Errorf("the server should refuse the manifest with %q, but accepts it", want)
	case want != "" && !strings.Contains(answer.Error(), want):
		return fmt.Errorf("the server should refuse the manifest with %q, but its message is: %w", want, answer)
	}
	return nil
}

// decodes returns an error unless the stored object can be decoded into its Go type. An object that the schema allows
// but the type cannot hold would make every list request for the kind fail.
func decodes(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	if !c.Scheme().Recognizes(obj.GroupVersionKind()) {
		return nil
	}
	typed, err := c.Scheme().New(obj.GroupVersionKind())
	if err != nil {
		return err
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), typed.(client.Object)); err != nil {
		return fmt.Errorf("accepted, but its Go type cannot read it: %w", err)
	}
	return nil
}

// namespaced sets the namespace of an object without one to "default", as kubectl does, if its kind is namespaced.
func namespaced(c client.Client, obj *unstructured.Unstructured) error {
	is, err := c.IsObjectNamespaced(obj)
	if err != nil {
		return fmt.Errorf("looking up the kind: %w", err)
	}
	if is && obj.GetNamespace() == "" {
		obj.SetNamespace("default")
	}
	return nil
}

// remove deletes the object if it exists. It first removes the finalizers, so that the server deletes the object before
// it responds.
func remove(ctx context.Context, c client.Client, obj *unstructured.Unstructured) error {
	noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	err := c.Patch(ctx, obj.DeepCopy(), noFinalizers)
	if err == nil {
		err = c.Delete(ctx, obj.DeepCopy())
	}
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) && obj.GetName() == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing it again: %w", err)
	}
	return nil
}

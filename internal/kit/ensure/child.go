// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ensure puts declared children in place and takes away what is no
// longer declared. It is the only code that writes children: always by
// server-side apply under the one field manager, only when something differs,
// and never over an object that belongs to someone else.
//
// What children a kind has is decided in the kind's own package.
package ensure

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/opcrew/opcrew/api/common"
)

// Child is one object that shall exist, declared whole.
type Child struct {
	// Object is all that the operator wants of the child: an apply configuration with a
	// deterministic name. Owner reference, labels and hash are added here.
	Object runtime.ApplyConfiguration
	// Carry lists dotted paths, such as spec.replicas, whose live value belongs to someone
	// else (an autoscaler). The live value is applied again, so that it is never reset,
	// and neither hashed nor compared, so that a change of it costs no write.
	Carry []string
	// ReplaceOn lists dotted paths that the API server does not let change. When one
	// differs, the child is deleted, and recreated when it is gone.
	ReplaceOn []string
	// Once is for a child that cannot be changed, such as a Pod: it is made when it is not
	// there, and neither compared nor applied again.
	Once bool
	// Orphan has what a replaced child owns stay for its successor, as the pods of a
	// StatefulSet do, which are then adopted and not restarted.
	Orphan bool
	// Pin, if any, keeps a part from being changed by a mere upgrade of the operator.
	Pin *Pin
	// Data, if any, is for a child that holds what cannot be had again.
	Data *Data
	// DecidedOn, if set, is the resourceVersion of the live child that the declaration rests
	// on: the API server refuses it as a conflict where there is a later one.
	DecidedOn string
	// New is set where what is declared rests on there being none: one that is there by now is a
	// conflict.
	New bool
	// Random is set where what is declared is made at random each time that it is made: then
	// each is another. Of two that are made at once one is refused, as an apply over the other
	// would change what someone may have already; and a child that is deleted again and again
	// is reported by its name.
	Random bool
}

// Data is how a child is kept that holds what cannot be had again, such as a claim. It is
// never deleted, and a later owner of the same kind and name has it again.
type Data struct {
	// Retain has it outlive its owner: it gets no owner reference.
	Retain bool
}

// Ref names a child in messages: its kind and name.
type Ref struct {
	schema.GroupVersionKind
	client.ObjectKey
}

// String gives the reference as users read it, such as RuntimeClass gold or Service shop/web.
func (r Ref) String() string {
	return r.Kind + " " + strings.TrimPrefix(r.ObjectKey.String(), "/")
}

// intent is a child with all that the operator declares of it.
type intent struct {
	Ref
	object *unstructured.Unstructured
	child  Child
	// carried are the paths that have the live value.
	carried []string
}

// declare completes a child for its owner. It is pure.
func declare(scheme *runtime.Scheme, owner client.Object, child Child) (*intent, error) {
	object, err := toUnstructured(child.Object)
	if err != nil {
		return nil, err
	}
	gvk, err := apiutil.GVKForObject(owner, scheme)
	if err != nil {
		return nil, fmt.Errorf("kind of the owner of %s: %w", object.GetName(), err)
	}
	in := &intent{
		Ref:    Ref{object.GroupVersionKind(), client.ObjectKeyFromObject(object)},
		object: object,
		child:  child,

		carried: child.Carry,
	}
	if in.Kind == "" || in.Name == "" {
		return nil, fmt.Errorf("a child needs apiVersion, kind and metadata.name, got %q %q", in.GroupVersionKind, in.Name)
	}
	setLabel(object, common.ManagedByLabel, common.Name)
	setLabel(object, common.OwnerLabel, string(owner.GetUID()))
	if child.Data != nil {
		setAnnotation(object, common.KeptForAnnotation, keptFor(owner, gvk))
	}
	if child.Data == nil || !child.Data.Retain {
		own(object, owner, gvk)
	}
	for _, path := range child.Carry {
		unstructured.RemoveNestedField(object.Object, split(path)...)
	}
	if err := in.pin(); err != nil {
		return nil, err
	}
	in.sign()
	return in, nil
}

// own makes owner the controller of object, unless they live in different
// namespaces: the garbage collector deletes a child whose owner it cannot find there.
func own(object *unstructured.Unstructured, owner client.Object, gvk schema.GroupVersionKind) {
	if owner.GetNamespace() != "" && owner.GetNamespace() != object.GetNamespace() {
		return
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	object.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": apiVersion, "kind": kind, "name": owner.GetName(), "uid": string(owner.GetUID()),
		"controller": true, "blockOwnerDeletion": true,
	}}
}

// keptFor names an owner by what a later one of the same name has in common with it.
func keptFor(owner client.Object, gvk schema.GroupVersionKind) string {
	return gvk.GroupKind().String() + " " + owner.GetName()
}

// sign writes the hash of all that is declared into the declaration.
func (in *intent) sign() {
	unsigned := in.object.GetAnnotations()
	delete(unsigned, common.AppliedAnnotation)
	in.object.SetAnnotations(unsigned)
	setAnnotation(in.object, common.AppliedAnnotation, Hash(in.unpinned()))
}

// contest names the child in the record of contests while it has no UID of its own. The
// owner's UID stands in its labels: another owner's child is another one.
func (in *intent) contest() types.UID {
	return contestOver(types.UID(in.object.GetLabels()[common.OwnerLabel]), in.Ref)
}

// contestOver names a child of an owner in the record of contests.
func contestOver(owner types.UID, child Ref) types.UID {
	return owner + " " + types.UID(child.String())
}

// turnover names the record of how often a child that cannot be changed is created, anyone who deletes it.
func (in *intent) turnover() types.UID { return in.contest() + " turnover" }

func (in *intent) hash() string {
	return in.object.GetAnnotations()[common.AppliedAnnotation]
}

// carry copies the live values that belong to someone else into the declaration,
// with the version they were read at, so that a newer value is never overwritten.
func (in *intent) carry(live client.Object) error {
	if len(in.carried) == 0 {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return fmt.Errorf("values to keep of %s: %w", in.Ref, err)
	}
	for _, path := range in.carried {
		fields := split(path)
		value, found, err := unstructured.NestedFieldCopy(content, fields...)
		if err != nil || !found {
			continue
		}
		if err := unstructured.SetNestedField(in.object.Object, value, fields...); err != nil {
			return fmt.Errorf("value of %s to keep of %s: %w", path, in.Ref, err)
		}
	}
	in.object.SetResourceVersion(live.GetResourceVersion())
	return nil
}

// heir is the declaration with the live values that belong to someone else, for an object
// of its own: what replaces another begins as that ended.
func (in *intent) heir(live client.Object) (*unstructured.Unstructured, error) {
	next := *in
	next.object = in.object.DeepCopy()
	if err := next.carry(live); err != nil {
		return nil, err
	}
	next.object.SetResourceVersion("")
	return next.object, nil
}

// restore puts the declared values of carried paths back in, for a child that is not there yet.
func (in *intent) restore() error {
	declared, err := toUnstructured(in.child.Object)
	if err != nil {
		return err
	}
	for _, path := range in.child.Carry {
		fields := split(path)
		value, found, _ := unstructured.NestedFieldCopy(declared.Object, fields...)
		if !found {
			continue
		}
		if err := unstructured.SetNestedField(in.object.Object, value, fields...); err != nil {
			return fmt.Errorf("first value of %s of %s: %w", path, in.Ref, err)
		}
	}
	return nil
}

func setLabel(object *unstructured.Unstructured, key, value string) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	object.SetLabels(labels)
}

func toUnstructured(ac runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	raw, err := json.Marshal(ac)
	if err != nil {
		return nil, fmt.Errorf("encode a declared child: %w", err)
	}
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil {
		return nil, fmt.Errorf("decode a declared child: %w", err)
	}
	return object, nil
}

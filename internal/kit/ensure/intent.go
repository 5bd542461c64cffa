// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/opcrew/opcrew/api/common"
)

// intent is the complete declaration of a child, including owner reference, labels and annotations.
type intent struct {
	Ref
	object *unstructured.Unstructured
	child  Child
	// carried lists the paths that keep the values of the live object, because other managers own them.
	carried []string
}

// declare builds the complete declaration of a child for its owner. It is a pure function.
func declare(scheme *runtime.Scheme, owner client.Object, child Child) (*intent, error) {
	object, err := toUnstructured(child.Object)
	if err != nil {
		return nil, err
	}
	gvk, err := apiutil.GVKForObject(owner, scheme)
	if err != nil {
		return nil, fmt.Errorf("look up the kind of the owner of %s: %w", object.GetName(), err)
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
	if child.Keep {
		setAnnotation(object, common.KeptForAnnotation, keptFor(owner, gvk))
	}
	if !child.Retain {
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

// own makes owner the controller of object if both are in one namespace. If they were not, the garbage collector would
// not find the owner, and would delete the child.
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

// keptFor identifies the owner of kept data by kind and name. A later owner with the same kind and name gets the same
// result.
func keptFor(owner client.Object, gvk schema.GroupVersionKind) string {
	return gvk.GroupKind().String() + " " + owner.GetName()
}

// sign stores the hash of the declaration in an annotation of the child.
func (in *intent) sign() {
	unsigned := in.object.GetAnnotations()
	delete(unsigned, common.AppliedAnnotation)
	in.object.SetAnnotations(unsigned)
	setAnnotation(in.object, common.AppliedAnnotation, Hash(in.unpinned()))
}

// contest returns the key under which writes of a child are counted, to detect another manager that undoes them. The
// child may not have a UID yet, so the key consists of the owner's UID and the child's name.
func (in *intent) contest() types.UID {
	return contestOver(types.UID(in.object.GetLabels()[common.OwnerLabel]), in.Ref)
}

// contestOver returns the key under which writes of an owner's child are counted, to detect another manager that undoes
// them.
func contestOver(owner types.UID, child Ref) types.UID {
	return owner + " " + types.UID(child.String())
}

// turnover returns the key under which opcrew counts how often it has created a child that cannot be changed, such as a
// pod.
func (in *intent) turnover() types.UID { return in.contest() + " turnover" }

func (in *intent) hash() string {
	return in.object.GetAnnotations()[common.AppliedAnnotation]
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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// Pin keeps a part of a child, such as a pod template, as it is until its owner asks for
// another: a new version of the operator declares it otherwise (a probe, a default image),
// and must not restart the pods of users for that.
//
// While the declared part is the one that was put in place, drift is repaired. While it
// is a newer version's, the live part is left alone.
type Pin struct {
	// Path is the dotted path of the part, such as spec.template.
	Path string
	// Key is all of the owner's settings that the part depends on; its JSON counts.
	Key any
}

// pinned annotation values: a hash of the key, and one of the part.
const pinSeparator = "."

// pin notes for which settings the part was declared, and how.
func (in *intent) pin() error {
	pin := in.child.Pin
	if pin == nil {
		return nil
	}
	part, _, err := unstructured.NestedFieldNoCopy(in.object.Object, split(pin.Path)...)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", pin.Path, in.Ref, err)
	}
	setAnnotation(in.object, common.PinnedAnnotation, Hash(pin.Key)+pinSeparator+Hash(part))
	return nil
}

// keep leaves the part as the live child has it, if the settings are those that it was
// made for.
func (in *intent) keep(live client.Object) {
	if in.child.Pin == nil {
		return
	}
	there, wanted := live.GetAnnotations()[common.PinnedAnnotation], in.object.GetAnnotations()[common.PinnedAnnotation]
	if there == wanted || keyOf(there) != keyOf(wanted) {
		return
	}
	setAnnotation(in.object, common.PinnedAnnotation, there)
	unstructured.RemoveNestedField(in.object.Object, split(in.child.Pin.Path)...)
	in.carried = append(slices.Clone(in.carried), in.child.Pin.Path)
	in.sign()
}

// Pinned reports whether a child's pinned part was made for these settings.
func Pinned(live client.Object, wishes any) bool {
	return keyOf(live.GetAnnotations()[common.PinnedAnnotation]) == Hash(wishes)
}

func keyOf(pinned string) string {
	key, _, _ := strings.Cut(pinned, pinSeparator)
	return key
}

// unpinned is the declaration without the pinned part, which the annotation stands for:
// it can then be signed alike, whichever version's part is in place.
func (in *intent) unpinned() map[string]any {
	if in.child.Pin == nil {
		return in.object.Object
	}
	rest := in.object.DeepCopy()
	unstructured.RemoveNestedField(rest.Object, split(in.child.Pin.Path)...)
	return rest.Object
}

func setAnnotation(object *unstructured.Unstructured, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}

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

// Pin keeps a part of a child, such as a pod template, until the owner changes its settings. A new version of the
// operator declares the part differently (a probe, a default image), and must not restart pods for that.
//
// While the operator declares the part as it was applied, drift is repaired. While a newer version declares it
// differently, the live part is left alone.
type Pin struct {
	// Path is the dotted path of the part, such as spec.template.
	Path string
	// Key holds all settings of the owner that the part depends on. Keys are compared by their JSON.
	Key any
}

// pinSeparator separates the hash of the key from that of the part, in the annotation.
const pinSeparator = "."

// pin records in the annotation the settings for which the part was declared, and the declared part.
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

// keep makes the declaration keep the live part, if that was made for the same settings.
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

// pinned reports whether the part stays as the live child has it.
func (in *intent) pinned() bool {
	return in.child.Pin != nil && slices.Contains(in.carried, in.child.Pin.Path)
}

// Matches reports whether the pinned part of a live child was made for the key.
func (p Pin) Matches(live client.Object) bool {
	return keyOf(live.GetAnnotations()[common.PinnedAnnotation]) == Hash(p.Key)
}

func keyOf(pinned string) string {
	key, _, _ := strings.Cut(pinned, pinSeparator)
	return key
}

// unpinned returns the declaration without the pinned part. The annotation represents the part, so that the hash is the
// same for all versions of the operator.
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

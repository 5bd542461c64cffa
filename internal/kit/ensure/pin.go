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

// Pin keeps a part of a child, such as a pod template, unchanged until the settings of the owner change. A new version
// of the operator may declare the part differently, such as with another probe or default image. That must not restart
// pods.
//
// As long as the operator declares the part in the same way as when it was applied, the operator repairs drift in the
// part. A version that declares the part differently leaves the live part unchanged.
type Pin struct {
	// Path is the dotted path of the part, such as spec.template.
	Path string
	// Key holds all settings of the owner that the part depends on. Two keys are equal if their JSON is equal.
	Key any
}

// pinSeparator separates the hash of the key from the hash of the part in PinnedAnnotation.
const pinSeparator = "."

// pin stores two hashes in an annotation of the child: the hash of the owner's settings (Pin.Key), and the hash of the
// pinned part as it is declared now.
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

// keep copies the pinned part of the live child, such as its pod template, into the declaration if that part was
// created from the same settings.
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

// pinned reports whether the declaration keeps the pinned part of the live child unchanged.
func (in *intent) pinned() bool {
	return in.child.Pin != nil && slices.Contains(in.carried, in.child.Pin.Path)
}

// Matches reports whether the pinned part of a live child was created from the settings in Key.
func (p Pin) Matches(live client.Object) bool {
	return keyOf(live.GetAnnotations()[common.PinnedAnnotation]) == Hash(p.Key)
}

func keyOf(pinned string) string {
	key, _, _ := strings.Cut(pinned, pinSeparator)
	return key
}

// unpinned returns the declaration without the pinned part, for the hash. The annotation on the child represents the
// pinned part, so that all versions of the operator compute the same hash.
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

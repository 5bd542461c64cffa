// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// carry copies the live values of other managers into the declaration. It also sets the resource version of the live
// object, so that the apply cannot overwrite a newer value.
func (in *intent) carry(live client.Object) error {
	if len(in.carried) == 0 {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return fmt.Errorf("read the values of %s that other managers set: %w", in.Ref, err)
	}
	for _, path := range in.carried {
		fields := split(path)
		value, found, err := unstructured.NestedFieldCopy(content, fields...)
		if err != nil || !found {
			continue
		}
		if err := unstructured.SetNestedField(in.object.Object, value, fields...); err != nil {
			return fmt.Errorf("copy the live value of field %s of %s: %w", path, in.Ref, err)
		}
	}
	in.object.SetResourceVersion(live.GetResourceVersion())
	return nil
}

// heir returns the declaration of the object that replaces live. It keeps the last values that other managers set in
// live.
func (in *intent) heir(live client.Object) (*unstructured.Unstructured, error) {
	next := *in
	next.object = in.object.DeepCopy()
	if err := next.carry(live); err != nil {
		return nil, err
	}
	next.object.SetResourceVersion("")
	return next.object, nil
}

// restore sets the fields that other managers own to their declared values again, because a child that does not exist
// has no live values.
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
			return fmt.Errorf("set the first value of field %s of %s: %w", path, in.Ref, err)
		}
	}
	return nil
}

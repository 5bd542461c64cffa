// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Clear deletes all objects of a type in a namespace at the end of the test, and waits until they are gone. Call it
// after Operator: cleanups run in reverse order, so the operator still runs, and the namespace still exists.
func (s *Suite) Clear(t *testing.T, list client.ObjectList, namespace string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		err := s.clear(ctx, list, namespace)
		for deadline := time.Now().Add(Long); err != nil && time.Now().Before(deadline); err = s.clear(ctx, list, namespace) {
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("expected all objects to go: %v", err)
		}
	})
}

// clear deletes all objects of the list's type. It returns an error as long as objects exist.
func (s *Suite) clear(ctx context.Context, list client.ObjectList, namespace string) error {
	if err := s.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	var left []error
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object := item.(client.Object)
		left = append(left, fmt.Errorf("%T %s still exists", object, object.GetName()))
		if object.GetDeletionTimestamp() != nil {
			return nil
		}
		return client.IgnoreNotFound(s.Client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	})
	return errors.Join(append(left, err)...)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// clean ends all operator processes and deletes all objects that did not exist before this run of the workload.
func (r *run) clean() {
	r.wire.on(nil)
	r.wire.gate.open()
	r.mu.Lock()
	close(r.crashed)
	r.crashed = nil
	r.mu.Unlock()
	r.supervision.Wait()
	for _, i := range r.instances {
		if i.cancel == nil {
			continue // the process did not start
		}
		if err := i.end(); err != nil {
			r.problem("process %d ended with the error %v", i.id, err)
		}
	}
	if r.observer != nil {
		r.observer.stop()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), eventually.Long)
	defer cancel()
	for _, kind := range r.kinds {
		list, err := listOf(ctx, r.env.Client, kind, r.user.namespace)
		must(err)
		for i := range list.Items {
			must(r.discard(ctx, &list.Items[i]))
		}
	}
}

// discard deletes an object with its finalizers, unless the object existed before this run of the workload.
func (r *run) discard(ctx context.Context, object *unstructured.Unstructured) error {
	if r.baseline[keyOf(object)] {
		return nil
	}
	if len(object.GetFinalizers()) > 0 {
		none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err := r.env.Client.Patch(ctx, object, none); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return client.IgnoreNotFound(r.env.Client.Delete(ctx, object, client.PropagationPolicy("Background")))
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const touchedKey = TouchPrefix + "touched"

// conflicts returns a case for every write to an existing object. In each case, another client changes the object just
// before the operator's write, and again before the operator's first retry.
func conflicts(p plan) []Case {
	var all []Case
	for k, w := range p.ref.writes {
		if w.created || w.verb == "create" {
			continue
		}
		all = append(all, Case{id: fmt.Sprint(k + 1), size: k + 1, arm: func(r *run) { r.wire.on(interfere(r, k+1)) }})
	}
	return all
}

func interfere(r *run, k int) func(*write, *instance) fault {
	var of target
	left := 2
	return func(w *write, _ *instance) fault {
		r.mu.Lock()
		defer r.mu.Unlock()
		if w.n == k {
			of = w.target
		}
		if of.resource == "" || w.target != of || left == 0 {
			return nil
		}
		left--
		return func(send func() (*http.Response, error)) (*http.Response, error) {
			if err := r.touch(w); err != nil {
				r.journal.add("the object to change does not exist: %v", err)
			} else {
				r.journal.mark("another client changes the object just before: %s", w.target)
			}
			return send()
		}
	}
}

// touch changes the object of a write as another client would.
func (r *run) touch(w *write) error {
	kind, err := r.env.Client.RESTMapper().KindFor(schema.GroupVersionResource{Group: w.group, Resource: w.resource})
	if err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		if err := r.env.Client.Get(r.ctx, client.ObjectKey{Namespace: w.namespace, Name: w.name}, object); err != nil {
			return err
		}
		notes := object.GetAnnotations()
		if notes == nil {
			notes = map[string]string{}
		}
		notes[touchedKey] = fmt.Sprint(w.n)
		object.SetAnnotations(notes)
		if r.subject.Touch != nil {
			r.subject.Touch(object)
		}
		return r.env.Client.Update(r.ctx, object, client.FieldOwner("another-client"))
	})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// prepare creates the objects that exist before the first step, and starts the observer.
func (r *run) prepare() {
	if r.subject.Namespaced {
		r.user.namespace = r.env.Namespace(r.t)
		must(r.inhabited())
	}
	for _, kind := range r.kinds {
		list, err := listOf(r.ctx, r.env.Client, kind, r.user.namespace)
		must(err)
		for i := range list.Items {
			r.baseline[keyOf(&list.Items[i])] = true
		}
	}
	if r.work.World != nil {
		r.work.World(&World{r.user, r.t, r.env})
	}
	first := View{
		scheme: r.env.Client.Scheme(), namespace: r.user.namespace, objects: map[Key]*unstructured.Unstructured{},
	}
	var err error
	r.observer, err = observe(r.ctx, r.env.Client, first, r.kinds)
	must(err)
	crashed := r.crashed
	r.supervision.Go(func() { r.supervise(crashed) })
}

// inhabited waits for the objects that Kubernetes creates in every new namespace, such as the default ServiceAccount.
func (r *run) inhabited() error {
	for _, object := range []client.Object{&corev1.ServiceAccount{}, &corev1.ConfigMap{}} {
		object.SetNamespace(r.user.namespace)
		object.SetName("default")
		if _, ok := object.(*corev1.ConfigMap); ok {
			object.SetName("kube-root-ca.crt")
		}
		for deadline := time.Now().Add(eventually.Long); ; time.Sleep(10 * time.Millisecond) {
			err := r.env.Client.Get(r.ctx, client.ObjectKeyFromObject(object), object)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the default objects of a new namespace were not created: %w", err)
			}
		}
	}
	return nil
}

// launch starts an operator process. If past is not nil, it maps resources to old resource versions, and the first
// lists of the process have these versions.
func (r *run) launch(past map[string]string) {
	r.mu.Lock()
	i := &instance{
		id: len(r.instances) + 1, wire: r.wire, done: make(chan struct{}),
		past: past, listed: map[string]bool{}, anyList: r.subject.OldLists,
	}
	r.instances = append(r.instances, i)
	r.starting++
	r.mu.Unlock()
	err := i.start(r.ctx, r.env.Config, r.subject.Kind, r.user.namespace)
	r.mu.Lock()
	r.starting--
	r.mu.Unlock()
	must(err)
	r.journal.add("process %d runs", i.id)
}

// crash simulates a crash of a process. supervise then starts a new process.
func (r *run) crash(i *instance) {
	i.die()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.crashed != nil {
		r.starting++
		r.crashed <- i
	}
}

// supervise starts a new process for every process that crashes, as a Deployment does.
func (r *run) supervise(crashed <-chan *instance) {
	for range crashed {
		r.tried(func() { r.launch(nil) })
		r.mu.Lock()
		r.starting--
		r.mu.Unlock()
	}
}

// running returns the operator process that started last.
func (r *run) running() *instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.instances[len(r.instances)-1]
}

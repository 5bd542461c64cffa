// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package evict reads what a drain of a node must know from the API server, and evicts pods. Package drain decides which
// pods. The caller cordons the node first.
package evict

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
)

// Err marks the failure of an eviction.
var Err = errors.New("evict pod")

// Refusals remembers the last refusals of evictions by node. The zero Refusals is empty and ready to use.
type Refusals struct {
	memory kit.Memory[string, map[types.UID]string]
}

// Forget deletes the refusals of a node.
func (r *Refusals) Forget(node string) { r.memory.Forget(node) }

// All tries to evict every pod, because one refused eviction says nothing about the other pods. The refusals are kept
// for the next look at the node, which reports them.
func (r *Refusals) All(ctx context.Context, c client.Client, node string, pods []drain.Pod) error {
	refused, errs := map[types.UID]string{}, []error{}
	for _, pod := range pods {
		if err := one(ctx, c, pod); err != nil {
			refused[pod.UID] = err.Error()
			errs = append(errs, fmt.Errorf("%w %s: %w", Err, pod, err))
		}
	}
	r.memory.Set(node, refused)
	return errors.Join(errs...)
}

// one evicts a pod. A PodDisruptionBudget that forbids it is no error; the next look explains it.
func one(ctx context.Context, c client.Client, pod drain.Pod) error {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	eviction := &policyv1.Eviction{DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}}
	err := c.SubResource("eviction").Create(ctx, object, eviction)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) {
		return nil
	}
	return err
}

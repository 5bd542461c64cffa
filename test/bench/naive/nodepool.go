// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

const nodeFinalizer = "naive.example.com/nodes"

// nodePoolReconciler updates the nodes of a NodePool, one node after the other.
type nodePoolReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

func (r *nodePoolReconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&nodesv1.NodePool{}).
		Owns(&nodev1.RuntimeClass{}).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(poolsOfNode)).
		Complete(r)
}

// poolsOfNode returns reconcile requests for the NodePools that the node's role labels name.
func poolsOfNode(_ context.Context, node client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for key := range node.GetLabels() {
		if pool, ok := strings.CutPrefix(key, nodesv1.RolePrefix); ok {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: pool}})
		}
	}
	return requests
}

// Reconcile updates the nodes and the RuntimeClass of a NodePool, and writes its status.
func (r *nodePoolReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	pool := &nodesv1.NodePool{}
	if err := r.Get(ctx, req.NamespacedName, pool); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	nodes := &corev1.NodeList{}
	if err := r.List(ctx, nodes, client.HasLabels{pool.RoleLabel()}); err != nil {
		return ctrl.Result{}, err
	}
	if pool.DeletionTimestamp != nil {
		return ctrl.Result{}, r.cleanUp(ctx, pool, nodes.Items)
	}
	if controllerutil.AddFinalizer(pool, nodeFinalizer) {
		if err := r.Update(ctx, pool); err != nil {
			return ctrl.Result{}, err
		}
	}
	for i := range nodes.Items {
		if err := r.Update(ctx, applyTo(pool, &nodes.Items[i])); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.runtimeClass(ctx, pool); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: lookAgain}, r.status(ctx, pool, nodes.Items)
}

func applyTo(pool *nodesv1.NodePool, node *corev1.Node) *corev1.Node {
	for key, value := range pool.Spec.Labels {
		metav1.SetMetaDataLabel(&node.ObjectMeta, key, string(value))
	}
	for key, value := range pool.Spec.Annotations {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, key, string(value))
	}
	for _, t := range pool.Spec.Taints {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(there corev1.Taint) bool { return there.Key == t.Key && there.Effect == t.Effect })
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	return node
}

// cleanUp removes the labels, annotations and taints of the NodePool from its nodes, and then the finalizer.
func (r *nodePoolReconciler) cleanUp(ctx context.Context, pool *nodesv1.NodePool, nodes []corev1.Node) error {
	for i := range nodes {
		node := &nodes[i]
		for key := range pool.Spec.Labels {
			delete(node.Labels, key)
		}
		for key := range pool.Spec.Annotations {
			delete(node.Annotations, key)
		}
		for _, t := range pool.Spec.Taints {
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(there corev1.Taint) bool { return there.Key == t.Key && there.Effect == t.Effect })
		}
		if err := r.Update(ctx, node); err != nil {
			return err
		}
	}
	controllerutil.RemoveFinalizer(pool, nodeFinalizer)
	return r.Update(ctx, pool)
}

func (r *nodePoolReconciler) runtimeClass(ctx context.Context, pool *nodesv1.NodePool) error {
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: pool.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, class, func() error {
		class.Handler = pool.Handler()
		selector := map[string]string{pool.RoleLabel(): ""}
		for key, value := range pool.Spec.Labels {
			selector[key] = string(value)
		}
		class.Scheduling = &nodev1.Scheduling{NodeSelector: selector}
		for _, t := range pool.Spec.Taints {
			class.Scheduling.Tolerations = append(class.Scheduling.Tolerations, corev1.Toleration{
				Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect,
			})
		}
		return controllerutil.SetControllerReference(pool, class, r.Scheme)
	})
	return err
}

func (r *nodePoolReconciler) status(ctx context.Context, pool *nodesv1.NodePool, nodes []corev1.Node) error {
	pool.Status.Status = 200
	pool.Status.NodeCount = int32(len(nodes))
	pool.Status.Allocatable = corev1.ResourceList{}
	for _, node := range nodes {
		for name, amount := range node.Status.Allocatable {
			sum := pool.Status.Allocatable[name]
			sum.Add(amount)
			pool.Status.Allocatable[name] = sum
		}
	}
	meta.SetStatusCondition(&pool.Status.Conditions, metav1.Condition{
		Type: nodesv1.NodePoolReady, Status: metav1.ConditionTrue, Reason: "Reconciled", Message: "All nodes are updated",
	})
	return r.Status().Update(ctx, pool)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package activity reconciles Activities: a command that runs at most once on a host, or a schedule or fleet that
// creates such Activities. A run is a pod that enters the host (internal/agents/hostrun) and reports the result in its termination
// message. opcrew creates the pod once; a marker file on the host prevents a second execution.
package activity

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
)

// Read Activities and change their finalizer; create the runs of a schedule and delete old runs.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities,verbs=get;list;watch;create;patch;delete
// Write the status of Activities, with the result of a run.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities/status,verbs=patch
// Set owner references on runs that block the deletion of their schedule until the runs are gone.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities/finalizers,verbs=update
// Run commands in pods. These pods are root on their nodes, so they run in a separate namespace.
// +kubebuilder:rbac:groups="",namespace=opcrew-activities,resources=pods,verbs=get;list;watch;create;patch;delete
// Store the values of spec.secretEnvs, and the keys for SSH, in the namespace of the pod while the pod runs.
// +kubebuilder:rbac:groups="",namespace=opcrew-activities,resources=secrets,verbs=get;list;watch;create;patch;delete
// Read the Secrets that spec.secretEnvs and spec.ssh name, in namespaces where an administrator binds this role.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,roleName=opcrew-activity-secrets
// Check whether a step of a NodePool has the requester of that NodePool, and whether the NodePool of a fleet exists.
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=get
// Find out whether the host exists, belongs to the control plane, or was restarted.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// Check whether the requester still has the rights to the host, the host user and the Secrets.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// Check whether the admission policy that sets spec.requester is in force.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,resourceNames=opcrew-activity-rights,verbs=get
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=activities.ego.example.com,verbs=get

// hostIndex is the cache index that finds the Activities of a host.
const hostIndex = "spec.host"

// workers is the number of Activities that are reconciled concurrently.
const workers = 8

// Kind returns the registration of Activity.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "activity",
		Layer:       kit.Machines,
		Outside:     "schedules of other users create no runs, because the API server records the user of this kubeconfig as the requester",
		CRDs:        []string{"activities.ego.example.com"},
		AddToScheme: egov1.AddToScheme,
		Cache:       cached,
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			return setup(mgr, &reconciler{Tools: tools})
		},
	}
}

func cached() map[client.Object]cache.ByObject {
	pods, secrets := kit.Ours(), kit.Ours()
	pods.Namespaces = map[string]cache.Config{run.Namespace: {}}
	secrets.Namespaces = pods.Namespaces
	return map[client.Object]cache.ByObject{
		&egov1.Activity{}: {},
		&corev1.Node{}:    {},
		&corev1.Pod{}:     pods,
		&corev1.Secret{}:  secrets,
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &egov1.Activity{}, hostIndex, nodeOf); err != nil {
		return err
	}
	if err := errors.Join(indexFleets(mgr), indexCordons(mgr)); err != nil {
		return err
	}
	loop := &kit.Loop[*egov1.Activity, facts, decision]{
		Tools:   r.Tools,
		New:     func() *egov1.Activity { return &egov1.Activity{} },
		Kind:    r,
		Records: starts,
	}
	if err := setupLeftovers(mgr, r); err != nil {
		return err
	}
	byAnnotation := handler.EnqueueRequestsFromMapFunc(r.activityOf)
	return ctrl.NewControllerManagedBy(mgr).
		Named("activity").
		For(&egov1.Activity{}).
		Owns(&egov1.Activity{}).
		Watches(&corev1.Pod{}, byAnnotation).
		Watches(&corev1.Secret{}, byAnnotation).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(fleets{r}.atWork), builder.WithPredicates(hostChanged())).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// nodeOf returns the node on which an Activity runs its command; none if it does so over SSH.
func nodeOf(object client.Object) []string {
	a := object.(*egov1.Activity)
	if a.Spec.Host == "" || run.OverSSH(a) {
		return nil
	}
	return []string{a.Spec.Host}
}

// activityOf enqueues the Activity that an annotation of a pod or Secret names. An owner reference is impossible,
// because these objects are in another namespace (run.Namespace).
func (r *reconciler) activityOf(_ context.Context, object client.Object) []reconcile.Request {
	namespace, name, ok := strings.Cut(object.GetAnnotations()[run.ActivityAnnotation], "/")
	if !ok || len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, namespace) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

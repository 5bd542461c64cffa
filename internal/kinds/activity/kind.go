// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package activity reconciles Activities: a command on a host that runs at most once, or a schedule that creates such
// Activities. A run is a pod that enters the host (internal/agents/hostrun) and reports the result in its termination
// message. It is created once, after the status has recorded the run; a marker on the host prevents a second execution.
package activity

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
)

// The objects of the kind; a schedule creates its runs and deletes old ones; patch is for the finalizer.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities,verbs=get;list;watch;create;patch;delete
// The result of a run.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities/status,verbs=patch
// The owner references of runs block the deletion of their schedule.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities/finalizers,verbs=update
// The pods that run commands. They are root on their nodes, so they have a namespace of their own.
// +kubebuilder:rbac:groups="",namespace=opcrew-activities,resources=pods,verbs=get;list;watch;create;patch;delete
// The values of secretEnvs, beside the pod and only while it runs.
// +kubebuilder:rbac:groups="",namespace=opcrew-activities,resources=secrets,verbs=get;list;watch;create;patch;delete
// The Secrets of secretEnvs. An administrator binds this role in the namespaces that may use them.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,roleName=opcrew-activity-secrets
// Whether the host exists, runs the control plane, and has booted since.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// Whether the requester still has the rights to the host, the user and the Secrets.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// Whether the policy that vouches for spec.requester is in force.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,resourceNames=opcrew-activity-rights,verbs=get
// Whether the CRD is installed, and by opcrew.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=activities.ego.example.com,verbs=get

// hostIndex finds the Activities of a host.
const hostIndex = "spec.host"

// workers is the number of objects that are reconciled at a time.
const workers = 8

// Kind returns the registration of Activity.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "activity",
		Layer:       kit.Machines,
		Outside:     "a schedule of another user makes no runs: the API server puts the user of this kubeconfig on record for them",
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
		&corev1.Pod{}:     pods,
		&corev1.Secret{}:  secrets,
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	host := func(object client.Object) []string { return []string{object.(*egov1.Activity).Spec.Host} }
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &egov1.Activity{}, hostIndex, host); err != nil {
		return err
	}
	loop := &kit.Loop[*egov1.Activity, facts, decision]{
		Tools: r.Tools,
		New:   func() *egov1.Activity { return &egov1.Activity{} },
		Kind:  r,
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
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// activityOf enqueues the Activity that a pod or Secret in the namespace of runs belongs to.
func (r *reconciler) activityOf(_ context.Context, object client.Object) []reconcile.Request {
	namespace, name, ok := strings.Cut(object.GetAnnotations()[run.ActivityAnnotation], "/")
	if !ok || len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, namespace) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

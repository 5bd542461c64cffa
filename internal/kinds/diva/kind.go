// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package diva implements the kind Diva: a legacy operations system in which a manager pod connects to a set of client
// pods over SSH. opcrew creates the pods, an SSH key pair, storage, and an inventory of the client pods for the manager
// pod.
//
// This package observes, decides, plans and reports. Its subpackages are names, keys (SSH keys), ring (the content of
// the Secret with the keys), rotation (replacement of keys), served (the SSH files that pods serve), storage (claims)
// and build (objects and pods). internal/agents/sshfiles updates the files in pods.
package diva

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/served"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// Read Divas; change their finalizer and annotations.
// +kubebuilder:rbac:groups=ops.xx.com,resources=divas,verbs=get;list;watch;patch
// Write the status of Divas.
// +kubebuilder:rbac:groups=ops.xx.com,resources=divas/status,verbs=patch
// Set owner references on children that block the deletion of the Diva until the children are gone.
// +kubebuilder:rbac:groups=ops.xx.com,resources=divas/finalizers,verbs=update
// Run the client pods, and recreate their StatefulSet when an immutable field has to change.
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// Run the manager pods.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// Find out which pods belong to the current template of the manager pods.
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// Manage the Services, inventory, SSH keys and claims; read the Secret that spec.ssh.secretRef names.
// +kubebuilder:rbac:groups="",resources=services;configmaps;secrets;persistentvolumeclaims,verbs=get;list;watch;create;patch
// Manage the PodDisruptionBudget of the client pods.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch
// Manage the NetworkPolicy that allows only manager pods to connect to the client pods' sshd.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch
// Find out why a pod is not ready, and delete a pod that holds a volume on a lost node.
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// Read from the log of opcrew's own container which keys a pod serves, only while keys change.
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get,roleName=opcrew-diva-logs
// Find out why a volume or a pod cannot be created.
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// Find out whether a StorageClass allows volumes to grow.
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=divas.ops.xx.com,verbs=get

// workers is the number of Divas that are reconciled concurrently.
const workers = 8

// Kind returns the registration of the kind Diva.
func Kind() kit.Registration {
	return KindReading(func(c kubernetes.Interface) LogReader { return served.Logs(c, build.AgentContainer) })
}

// LogReader returns the last lines of the log of a pod's agent.
type LogReader = served.LogReader

// KindReading returns the registration with another way to read logs, for tests whose pods have no logs.
func KindReading(logs func(kubernetes.Interface) LogReader) kit.Registration {
	return kit.Registration{
		Name:        "diva",
		Layer:       kit.Applications,
		CRDs:        []string{"divas.ops.xx.com"},
		AddToScheme: opsv1.AddToScheme,
		Cache:       cached,
		Setup: func(mgr ctrl.Manager, tools *kit.Tools) error {
			clientset, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
			if err != nil {
				return err
			}
			return setup(mgr, newReconciler(tools, logs(clientset)))
		},
	}
}

func newReconciler(tools *kit.Tools, logs LogReader) *reconciler {
	return &reconciler{
		Tools:    tools,
		served:   &served.Reader{Log: logs},
		refusals: workload.Refusals{Live: tools.Live, Clock: tools.Clock},
		unbound:  workload.Refusals{Live: tools.Live, Clock: tools.Clock, Reason: "ProvisioningFailed"},
		classes:  workload.Classes{Live: tools.Live, Clock: tools.Clock},
	}
}

func cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&opsv1.Diva{}:                   {},
		&corev1.Service{}:               kit.Ours(),
		&corev1.ConfigMap{}:             kit.Ours(),
		&corev1.Secret{}:                kit.Ours(),
		&corev1.PersistentVolumeClaim{}: kit.Ours(),
		&appsv1.StatefulSet{}:           kit.Ours(),
		&appsv1.Deployment{}:            kit.Ours(),
		&appsv1.ReplicaSet{}:            kit.Ours(),
		&policyv1.PodDisruptionBudget{}: kit.Ours(),
		&networkingv1.NetworkPolicy{}:   kit.Ours(),
		&corev1.Pod{}:                   kit.Ours(),
	}
}

func setup(mgr ctrl.Manager, r *reconciler) error {
	loop := &kit.Loop[*opsv1.Diva, facts, decision]{
		Tools:       r.Tools,
		New:         func() *opsv1.Diva { return &opsv1.Diva{} },
		Kind:        r,
		Transitions: r.transitions,
		Finish:      r.finish,
		Forget:      []func(client.ObjectKey){r.refusals.Forget, r.unbound.Forget, r.served.Forget},
	}
	ofUsers, err := r.WatchedSecrets(mgr, r.divasOfSecret)
	if err != nil {
		return err
	}
	byLabels := handler.EnqueueRequestsFromMapFunc(workload.OwnerByLabels(names.AppName, names.InstanceLabel))
	return ctrl.NewControllerManagedBy(mgr).
		Named("diva").
		For(&opsv1.Diva{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&appsv1.Deployment{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Watches(&appsv1.ReplicaSet{}, byLabels).
		Watches(&corev1.Pod{}, byLabels).
		Watches(&corev1.PersistentVolumeClaim{}, byLabels).
		WatchesRawSource(ofUsers).
		WithOptions(loop.Options(workers)).
		Complete(loop)
}

// divasOfSecret enqueues the Divas whose spec.ssh.secretRef names a Secret.
func (r *reconciler) divasOfSecret(ctx context.Context, secret client.Object) []reconcile.Request {
	list := &opsv1.DivaList{}
	if err := r.Client.List(ctx, list, client.InNamespace(secret.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache has stopped
	}
	var out []reconcile.Request
	for i := range list.Items {
		if ssh := list.Items[i].Spec.SSH; ssh != nil && ssh.SecretRef != nil && ssh.SecretRef.Name == secret.GetName() {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

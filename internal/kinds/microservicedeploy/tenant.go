// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// tenantReconciler is keyed by a Namespace: it keeps what all instances of a tenant have
// in common, their quota and their credentials.
type tenantReconciler struct {
	*kit.Tools
	*neighbours
	troubles *troubles
	checked  sync.Map // the version of each tenant's credentials that was found in order
}

// tenantFacts are all that is read about a tenant.
type tenantFacts struct {
	instances   []*customv1.MicroServiceDeploy
	deployments map[types.UID]*appsv1.Deployment // by the instance that they belong to
	quotas      map[bound]*corev1.ResourceQuota  // those of ours that are there
	strangers   bool                             // pods of others run here
	leaving     bool                             // pods of instances that are no more run here
	overheads   overheads
	credentials credentialFacts
	// trouble is what is in the way of making them.
	trouble obstacle
	// behind: the API server has instances where the cache shows none, so nothing may go.
	behind bool
}

// Observe reads the instances of a namespace and what they share.
func (r *tenantReconciler) Observe(ctx context.Context, ns *corev1.Namespace) (tenantFacts, error) {
	f, err := r.observe(ctx, ns)
	if err != nil {
		r.troubles.unread(ns.Name, err)
	}
	return f, err
}

func (r *tenantReconciler) observe(ctx context.Context, ns *corev1.Namespace) (tenantFacts, error) {
	f := tenantFacts{}
	var err error
	if err = f.readInstances(ctx, r.Client, ns.Name); err != nil {
		return f, err
	}
	if f.quotas, err = ourQuotas(ctx, r.Client, ns); err != nil {
		return f, err
	}
	if len(f.instances) == 0 {
		if ns.DeletionTimestamp == nil && (len(f.quotas) > 0 || r.hasCredentials(ctx, ns)) {
			f.behind, err = r.anyLive(ctx, ns.Name)
		}
		return f, err
	}
	if f.overheads, err = readOverheads(ctx, r.Client); err != nil {
		return f, err
	}
	if f.strangers, err = r.strangers(ctx, ns); err != nil {
		return f, err
	}
	if f.lacks() {
		if f.leaving, err = f.departing(ctx, r.Client, ns.Name); err != nil {
			return f, err
		}
	}
	f.credentials, err = r.observeCredentials(ctx, ns, f.asksForCredentials())
	return f, err
}

// hasCredentials reports whether there are any that could be taken away.
func (r *tenantReconciler) hasCredentials(ctx context.Context, ns *corev1.Namespace) bool {
	return r.Client.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: tenantAuth}, &corev1.Secret{}) == nil
}

// anyLive asks the API server for an instance, before what all of them share is taken away.
func (r *tenantReconciler) anyLive(ctx context.Context, namespace string) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(customv1.GroupVersion.WithKind("MicroServiceDeployList"))
	if err := r.Live.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return false, fmt.Errorf("look for instances: %w", err)
	}
	return len(list.Items) > 0, nil
}

// readInstances reads those of a namespace, with their Deployments. They are shared with the
// cache and must not be changed.
func (f *tenantFacts) readInstances(ctx context.Context, reader client.Reader, namespace string) error {
	all, deployments := &customv1.MicroServiceDeployList{}, &appsv1.DeploymentList{}
	for _, list := range []client.ObjectList{all, deployments} {
		if err := reader.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
	}
	f.deployments = map[types.UID]*appsv1.Deployment{}
	for i := range all.Items {
		if all.Items[i].DeletionTimestamp == nil {
			f.instances = append(f.instances, &all.Items[i])
		}
	}
	for i := range deployments.Items {
		if owner := metav1.GetControllerOf(&deployments.Items[i]); owner != nil {
			f.deployments[owner.UID] = &deployments.Items[i]
		}
	}
	return nil
}

func readOverheads(ctx context.Context, reader client.Reader) (overheads, error) {
	classes := &nodev1.RuntimeClassList{}
	if err := reader.List(ctx, classes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list RuntimeClasses: %w", err)
	}
	out := overheads{}
	for _, class := range classes.Items {
		if class.Overhead != nil {
			out[class.Name] = class.Overhead.PodFixed
		}
	}
	return out, nil
}

// Plan declares quota and credentials, for as long as an instance wants them.
func (r *tenantReconciler) Plan(ns *corev1.Namespace, f tenantFacts, now time.Time) kit.Plan {
	if ns.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	if f.behind {
		return kit.Plan{Again: waitInterval}
	}
	plan := kit.Plan{Prune: []client.ObjectList{&corev1.ResourceQuotaList{}, &corev1.SecretList{}}}
	plan.Stays = func(object client.Object) bool { // a copy of them is someone's own
		return object.GetNamespace() != ns.Name || !isBound(object.GetName()) && object.GetName() != tenantAuth
	}
	for _, b := range bounds {
		if hard := f.hard(b); len(hard) > 0 {
			plan.Children = append(plan.Children, ensure.Child{Object: b.declare(ns.Name, hard)})
		}
	}
	if len(plan.Children) > 0 {
		plan.Again = secretInterval // others may have come
	}
	if f.strangers {
		plan.Again = strangersInterval // they may have gone, which nothing tells
	}
	if f.leaving {
		plan.Again = departInterval
	}
	if f.asksForCredentials() {
		child, again := f.credentials.child(ns, now)
		plan.Children = append(plan.Children, child)
		if again > 0 && !f.leaving {
			plan.Again = again
		}
	}
	return plan
}

// asksForCredentials reports whether there are to be some. Those that were made stay for as
// long as there is an instance: users know them when it asks for them again.
func (f tenantFacts) asksForCredentials() bool {
	if f.credentials.live != nil && len(f.instances) > 0 {
		return true
	}
	for _, m := range f.instances {
		if m.Spec.NeedAuth && m.Spec.Auth == nil {
			return true
		}
	}
	return false
}

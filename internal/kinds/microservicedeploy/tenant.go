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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// tenantReconciler is keyed by a Namespace: it keeps what all instances of a tenant have
// in common, their quota and their credentials.
type tenantReconciler struct {
	*kit.Tools
	*neighbours
	checked sync.Map // the version of each tenant's credentials that was found in order
}

// tenantFacts are all that is read about a tenant.
type tenantFacts struct {
	instances   []*customv1.MicroServiceDeploy
	deployments map[types.UID]*appsv1.Deployment // by the instance that they belong to
	quota       *corev1.ResourceQuota            // nil: there is none of ours
	strangers   bool                             // pods of others run here
	credentials credentialFacts
	// behind: the API server has instances where the cache shows none, so nothing may go.
	behind bool
}

// Observe reads the instances of a namespace and what they share.
func (r *tenantReconciler) Observe(ctx context.Context, ns *corev1.Namespace) (tenantFacts, error) {
	f := tenantFacts{}
	var err error
	if f.instances, f.deployments, err = instances(ctx, r.Client, ns.Name); err != nil {
		return f, err
	}
	if f.quota, err = ourQuota(ctx, r.Client, ns); err != nil {
		return f, err
	}
	if len(f.instances) == 0 {
		if ns.DeletionTimestamp == nil && (f.quota != nil || r.hasCredentials(ctx, ns)) {
			f.behind, err = r.anyLive(ctx, ns.Name)
		}
		return f, err
	}
	if f.strangers, err = r.strangers(ctx, ns); err != nil {
		return f, err
	}
	f.credentials, err = r.observeCredentials(ctx, ns, f.asksForCredentials())
	return f, err
}

// hasCredentials tells whether there are any that could be taken away.
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

// instances reads those of a namespace, with their Deployments. They are shared with the
// cache and must not be changed.
func instances(ctx context.Context, reader client.Reader, namespace string) ([]*customv1.MicroServiceDeploy, map[types.UID]*appsv1.Deployment, error) {
	all, deployments := &customv1.MicroServiceDeployList{}, &appsv1.DeploymentList{}
	for _, list := range []client.ObjectList{all, deployments} {
		if err := reader.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, nil, fmt.Errorf("list %T: %w", list, err)
		}
	}
	var out []*customv1.MicroServiceDeploy
	for i := range all.Items {
		if all.Items[i].DeletionTimestamp == nil {
			out = append(out, &all.Items[i])
		}
	}
	owned := map[types.UID]*appsv1.Deployment{}
	for i := range deployments.Items {
		if owner := metav1.GetControllerOf(&deployments.Items[i]); owner != nil {
			owned[owner.UID] = &deployments.Items[i]
		}
	}
	return out, owned, nil
}

func ourQuota(ctx context.Context, reader client.Reader, ns *corev1.Namespace) (*corev1.ResourceQuota, error) {
	quota := &corev1.ResourceQuota{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: tenantQuota}, quota)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read ResourceQuota: %w", err)
	case quota.Labels[common.OwnerLabel] != string(ns.UID):
		return nil, nil
	}
	return quota, nil
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
	plan.Stays = func(object client.Object) bool { // a copy of them is somebody's own
		return object.GetNamespace() != ns.Name || object.GetName() != tenantQuota && object.GetName() != tenantAuth
	}
	if hard := f.hard(); len(hard) > 0 {
		plan.Children = append(plan.Children, ensure.Child{Object: corev1ac.ResourceQuota(tenantQuota, ns.Name).
			WithSpec(corev1ac.ResourceQuotaSpec().WithHard(hard))})
	}
	if len(plan.Children) > 0 {
		plan.Again = secretInterval // others may have come
	}
	if f.asksForCredentials() {
		child, again := f.credentials.child(ns, now)
		plan.Children = append(plan.Children, child)
		if again > 0 {
			plan.Again = again
		}
	}
	return plan
}

// hard is what the quota is to allow, nothing if there is to be none. It is raised at
// once, and lowered when every rollout has come to its end and what is used fits; not to
// bound something and then to do so is to lower it.
func (f tenantFacts) hard() amounts {
	wanted, bounded, settled := f.wanted(nil)
	if !bounded || f.strangers {
		return nil
	}
	if f.quota == nil {
		return wanted
	}
	for name, q := range wanted {
		there, bounded := f.quota.Spec.Hard[name]
		used := f.quota.Status.Used[name]
		switch {
		case !bounded && !settled:
			delete(wanted, name)
		case bounded && q.Cmp(there) < 0 && (!settled || used.Cmp(q) > 0):
			wanted[name] = there
		}
	}
	return wanted
}

// wanted sums up what all instances may use, with one of them as it is to be; bounded
// tells whether any asks for a quota, settled whether every rollout has come to its end.
func (f tenantFacts) wanted(changed *customv1.MicroServiceDeploy) (total amounts, bounded, settled bool) {
	var needs []amounts
	settled = true
	for _, m := range f.instances {
		if changed != nil && m.UID == changed.UID {
			m = changed
		}
		d := f.deployments[m.UID]
		needs = append(needs, need(m, d))
		bounded = bounded || quotaMode(m) == customv1.QuotaNamespace
		settled = settled && complete(d)
	}
	return sum(needs), bounded, settled
}

// complete tells whether nothing is being rolled out; of an instance without pods nothing is.
func complete(d *appsv1.Deployment) bool {
	if d == nil || d.Spec.Replicas == nil {
		return d == nil
	}
	s, n := d.Status, *d.Spec.Replicas
	return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == n && s.Replicas == n
}

func quotaMode(m *customv1.MicroServiceDeploy) customv1.QuotaMode {
	if m.Spec.Quota == "" {
		return customv1.QuotaNamespace
	}
	return m.Spec.Quota
}

// asksForCredentials tells whether there are to be some. Those that were made stay for as
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

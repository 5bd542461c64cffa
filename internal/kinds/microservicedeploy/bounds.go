// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
)

// bound is a ResourceQuota that instances of a namespace share. One for each instance
// would not do: all quotas of a namespace must admit every pod that they count.
type bound struct {
	name string
	mode customv1.QuotaMode
}

var (
	// byNamespace counts all pods of the namespace, so it is only where all of them are ours.
	byNamespace = bound{"opcrew-microservices", customv1.QuotaNamespace}
	// byClass counts the pods of a PriorityClass that only instances have: a scope is the
	// one way in which quotas tell pods apart (labels were refused, kubernetes #110065).
	byClass = bound{"opcrew-microservices-by-class", customv1.QuotaPriorityClass}

	bounds = []bound{byNamespace, byClass}
)

func boundOf(m *customv1.MicroServiceDeploy) (bound, bool) {
	i := slices.IndexFunc(bounds, func(b bound) bool { return b.mode == quotaMode(m) })
	if i < 0 {
		return bound{}, false
	}
	return bounds[i], true
}

func isBound(name string) bool {
	return slices.ContainsFunc(bounds, func(b bound) bool { return b.name == name })
}

// counts reports whether it counts pods of an instance, whose Deployment is as it is. Those
// from before a rollout may have the class although the template has it no more.
func (b bound) counts(m *customv1.MicroServiceDeploy, live *appsv1.Deployment) bool {
	return b != byClass || quotaMode(m) == b.mode ||
		live != nil && (live.Spec.Template.Spec.PriorityClassName == customv1.QuotaPriorityClassName || !complete(live))
}

// declare is the quota.
func (b bound) declare(namespace string, hard amounts) *corev1ac.ResourceQuotaApplyConfiguration {
	spec := corev1ac.ResourceQuotaSpec().WithHard(hard)
	if b == byClass {
		spec.WithScopeSelector(corev1ac.ScopeSelector().WithMatchExpressions(corev1ac.ScopedResourceSelectorRequirement().
			WithScopeName(corev1.ResourceQuotaScopePriorityClass).WithOperator(corev1.ScopeSelectorOpIn).
			WithValues(customv1.QuotaPriorityClassName)))
	}
	return corev1ac.ResourceQuota(b.name, namespace).WithSpec(spec)
}

// ourQuotas reads those of a namespace's bounds that are there and ours.
func ourQuotas(ctx context.Context, reader client.Reader, ns *corev1.Namespace) (map[bound]*corev1.ResourceQuota, error) {
	out := map[bound]*corev1.ResourceQuota{}
	for _, b := range bounds {
		quota := &corev1.ResourceQuota{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: b.name}, quota)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("read ResourceQuota: %w", err)
		case quota.Labels[common.OwnerLabel] == string(ns.UID):
			out[b] = quota
		}
	}
	return out, nil
}

// hard is what a quota is to allow, nothing if there is to be none. It is raised at once,
// and lowered when every rollout has come to its end and what is used fits; not to bound
// something and then to do so is to lower it.
func (f tenantFacts) hard(b bound) amounts {
	wanted, bounded, settled := f.wanted(b, nil)
	if !bounded || b == byNamespace && f.strangers {
		return nil
	}
	quota := f.quotas[b]
	switch {
	case quota == nil && f.leaving:
		return nil
	case quota == nil:
		return wanted
	}
	for name, q := range wanted {
		there, bounded := quota.Spec.Hard[name]
		used := quota.Status.Used[name]
		switch {
		case !bounded && !settled:
			delete(wanted, name)
		case bounded && q.Cmp(there) < 0 && (!settled || used.Cmp(q) > 0):
			wanted[name] = there
		}
	}
	return wanted
}

// wanted sums up what the instances that a quota counts may use, with one of them as it is
// to be; bounded reports whether any asks for the quota, settled whether every rollout has
// come to its end.
func (f tenantFacts) wanted(b bound, changed *customv1.MicroServiceDeploy) (total amounts, bounded, settled bool) {
	var needs []amounts
	settled = true
	for _, m := range f.instances {
		if changed != nil && m.UID == changed.UID {
			m = changed
		}
		d := f.deployments[m.UID]
		if b.counts(m, d) {
			needs = append(needs, need(m, d, f.overheads))
		}
		bounded = bounded || quotaMode(m) == b.mode
		settled = settled && complete(d)
	}
	return sum(needs), bounded, settled
}

// complete reports whether nothing is being rolled out; of an instance without pods nothing is.
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

// has reports whether a quota is one of those that are made for the tenant.
func (f tenantFacts) has(q *corev1.ResourceQuota) bool {
	for _, ours := range f.quotas {
		if ours.Name == q.Name {
			return true
		}
	}
	return false
}

// raising reports whether a quota of the tenant does not allow yet what an instance is to have.
func (f tenantFacts) raising(m *customv1.MicroServiceDeploy) bool {
	for b, q := range f.quotas {
		wanted, bounded, _ := f.wanted(b, m)
		if !bounded || !b.counts(m, f.deployments[m.UID]) {
			continue // it is on its way out, or no matter of this one
		}
		if !covers(q.Spec.Hard, wanted) || !covers(q.Status.Hard, wanted) {
			return true
		}
	}
	return false
}

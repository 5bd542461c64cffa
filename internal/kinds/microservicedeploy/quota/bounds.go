// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
)

// Bound is a ResourceQuota that the instances of a namespace share. A quota per instance is not possible, as all quotas
// of a namespace must admit every pod that they count.
type Bound struct {
	Name string
	mode customv1.QuotaMode
}

var (
	// ByNamespace counts all pods of the namespace, so it is used only if all of them are ours.
	ByNamespace = Bound{"opcrew-microservices", customv1.QuotaNamespace}
	// ByClass counts the pods of a PriorityClass that only instances use. Quotas can select pods only by scopes (labels
	// were rejected, kubernetes #110065).
	ByClass = Bound{"opcrew-microservices-by-class", customv1.QuotaPriorityClass}

	// Bounds lists all kinds of ResourceQuota that opcrew writes.
	Bounds = []Bound{ByNamespace, ByClass}
)

// BoundOf returns the quota that an instance requests, and whether it requests one.
func BoundOf(m *customv1.MicroServiceDeploy) (Bound, bool) {
	i := slices.IndexFunc(Bounds, func(b Bound) bool { return b.mode == names.QuotaMode(m) })
	if i < 0 {
		return Bound{}, false
	}
	return Bounds[i], true
}

// IsBound reports whether a ResourceQuota has a name that opcrew uses.
func IsBound(name string) bool {
	return slices.ContainsFunc(Bounds, func(b Bound) bool { return b.Name == name })
}

// counts reports whether the quota counts pods of an instance, given its Deployment. Pods from before a rollout may
// have the PriorityClass although the template no longer has it.
func (b Bound) counts(m *customv1.MicroServiceDeploy, live *appsv1.Deployment) bool {
	return b != ByClass || names.QuotaMode(m) == b.mode ||
		live != nil && (live.Spec.Template.Spec.PriorityClassName == customv1.QuotaPriorityClassName || !complete(live))
}

// Declare declares the quota.
func (b Bound) Declare(namespace string, hard Amounts) *corev1ac.ResourceQuotaApplyConfiguration {
	spec := corev1ac.ResourceQuotaSpec().WithHard(hard)
	if b == ByClass {
		spec.WithScopeSelector(corev1ac.ScopeSelector().WithMatchExpressions(corev1ac.ScopedResourceSelectorRequirement().
			WithScopeName(corev1.ResourceQuotaScopePriorityClass).WithOperator(corev1.ScopeSelectorOpIn).
			WithValues(customv1.QuotaPriorityClassName)))
	}
	return corev1ac.ResourceQuota(b.Name, namespace).WithSpec(spec)
}

// Tenant holds what the quotas of a namespace depend on.
type Tenant struct {
	Instances []*customv1.MicroServiceDeploy
	// Deployments are the instances' Deployments, by the instances' UIDs.
	Deployments map[types.UID]*appsv1.Deployment
	// All are the quotas of the namespace; Quotas are opcrew's own.
	All       []corev1.ResourceQuota
	Quotas    map[Bound]*corev1.ResourceQuota
	Overheads Overheads
	// Others is true if pods of other owners run here; Leaving, if pods of deleted instances do.
	Others, Leaving bool
}

// Hard returns what a quota should allow; nil if there should be none. It is raised at once. It is lowered only when no
// rollout is under way and the used amounts fit. During a rollout it does not limit a new resource either.
func (t Tenant) Hard(b Bound) Amounts {
	wanted, bounded, settled := t.Wanted(b, nil)
	if !bounded || b == ByNamespace && t.Others {
		return nil
	}
	quota := t.Quotas[b]
	switch {
	case quota == nil && t.Leaving:
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

// Wanted sums up what the instances that a quota counts may use, with one of them replaced by changed. bounded reports
// whether any instance requests the quota; settled, whether no rollout is under way.
func (t Tenant) Wanted(b Bound, changed *customv1.MicroServiceDeploy) (total Amounts, bounded, settled bool) {
	var needs []Amounts
	settled = true
	for _, m := range t.Instances {
		if changed != nil && m.UID == changed.UID {
			m = changed
		}
		d := t.Deployments[m.UID]
		if b.counts(m, d) {
			needs = append(needs, Need(m, d, t.Overheads))
		}
		bounded = bounded || names.QuotaMode(m) == b.mode
		settled = settled && complete(d)
	}
	return sum(needs), bounded, settled
}

// complete reports whether no rollout is under way. An instance without pods has none.
func complete(d *appsv1.Deployment) bool {
	if d == nil || d.Spec.Replicas == nil {
		return d == nil
	}
	s, n := d.Status, *d.Spec.Replicas
	return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == n && s.Replicas == n
}

// has reports whether a quota is one of the tenant's own.
func (t Tenant) has(q *corev1.ResourceQuota) bool {
	for _, ours := range t.Quotas {
		if ours.Name == q.Name {
			return true
		}
	}
	return false
}

// Raising reports whether a quota of the tenant does not yet allow what an instance should have.
func (t Tenant) Raising(m *customv1.MicroServiceDeploy) bool {
	for b, q := range t.Quotas {
		wanted, bounded, _ := t.Wanted(b, m)
		if !bounded || !b.counts(m, t.Deployments[m.UID]) {
			continue // the quota is about to be deleted, or does not count this instance
		}
		if !covers(q.Spec.Hard, wanted) || !covers(q.Status.Hard, wanted) {
			return true
		}
	}
	return false
}

// Lacks reports whether a quota that should exist is missing.
func (t Tenant) Lacks() bool {
	return slices.ContainsFunc(Bounds, func(b Bound) bool {
		_, bounded, _ := t.Wanted(b, nil)
		return bounded && t.Quotas[b] == nil
	})
}

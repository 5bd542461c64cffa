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

// Bound is a kind of ResourceQuota that the MicroServiceDeploys of a namespace share. One quota per MicroServiceDeploy
// is not possible, because a pod must fit into all quotas of its namespace that count it.
type Bound struct {
	Name string
	mode customv1.QuotaMode
}

var (
	// ByNamespace counts all pods of the namespace, so it is used only if all of them belong to MicroServiceDeploys.
	ByNamespace = Bound{"opcrew-microservices", customv1.QuotaNamespace}
	// ByClass counts the pods of a PriorityClass that only MicroServiceDeploys use. A quota selects pods only by
	// scopes, such as the PriorityClass; Kubernetes rejected selection by labels (kubernetes #110065).
	ByClass = Bound{"opcrew-microservices-by-class", customv1.QuotaPriorityClass}

	// Bounds lists all kinds of ResourceQuota that opcrew creates.
	Bounds = []Bound{ByNamespace, ByClass}
)

// BoundOf returns the kind of ResourceQuota that spec.quota requests for a MicroServiceDeploy; false if it requests
// none.
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

// counts reports whether the quota counts pods of a MicroServiceDeploy. live is the Deployment of the
// MicroServiceDeploy. During a rollout, old pods may have the PriorityClass although the template no longer has it.
func (b Bound) counts(m *customv1.MicroServiceDeploy, live *appsv1.Deployment) bool {
	return b != ByClass || names.QuotaMode(m) == b.mode ||
		live != nil && (live.Spec.Template.Spec.PriorityClassName == customv1.QuotaPriorityClassName || !complete(live))
}

// Declare declares the ResourceQuota.
func (b Bound) Declare(namespace string, hard Amounts) *corev1ac.ResourceQuotaApplyConfiguration {
	spec := corev1ac.ResourceQuotaSpec().WithHard(hard)
	if b == ByClass {
		spec.WithScopeSelector(corev1ac.ScopeSelector().WithMatchExpressions(corev1ac.ScopedResourceSelectorRequirement().
			WithScopeName(corev1.ResourceQuotaScopePriorityClass).WithOperator(corev1.ScopeSelectorOpIn).
			WithValues(customv1.QuotaPriorityClassName)))
	}
	return corev1ac.ResourceQuota(b.Name, namespace).WithSpec(spec)
}

// Tenant holds everything that determines the quotas of a namespace.
type Tenant struct {
	Instances []*customv1.MicroServiceDeploy
	// Deployments maps the UIDs of MicroServiceDeploys to their Deployments.
	Deployments map[types.UID]*appsv1.Deployment
	// All are all quotas of the namespace. Quotas are the quotas that opcrew created.
	All       []corev1.ResourceQuota
	Quotas    map[Bound]*corev1.ResourceQuota
	Overheads Overheads
	// Others is true if pods of other owners run in the namespace. Leaving is true if pods of deleted
	// MicroServiceDeploys still run there.
	Others, Leaving bool
}

// Hard returns the limits of a quota; nil if there should be no quota. Limits are raised at once. They are lowered only
// after all rollouts have ended, and only if the used amounts fit into the lower limits. During a rollout, no
// additional resource gets a limit.
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

// Wanted sums up the needs of the MicroServiceDeploys that a quota counts. If changed is set, it replaces the
// MicroServiceDeploy with the same UID. bounded reports whether any MicroServiceDeploy requests the quota, and settled
// whether no rollout is in progress.
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

// complete reports whether no rollout of a Deployment is in progress. d is nil for a MicroServiceDeploy without pods.
func complete(d *appsv1.Deployment) bool {
	if d == nil || d.Spec.Replicas == nil {
		return d == nil
	}
	s, n := d.Status, *d.Spec.Replicas
	return s.ObservedGeneration >= d.Generation && s.UpdatedReplicas == n && s.Replicas == n
}

// has reports whether opcrew created the given quota.
func (t Tenant) has(q *corev1.ResourceQuota) bool {
	for _, ours := range t.Quotas {
		if ours.Name == q.Name {
			return true
		}
	}
	return false
}

// Raising reports whether a quota of opcrew does not yet allow the pods that a MicroServiceDeploy should have.
func (t Tenant) Raising(m *customv1.MicroServiceDeploy) bool {
	for b, q := range t.Quotas {
		wanted, bounded, _ := t.Wanted(b, m)
		if !bounded || !b.counts(m, t.Deployments[m.UID]) {
			continue // this quota will be deleted, or does not count the MicroServiceDeploy
		}
		if !covers(q.Spec.Hard, wanted) || !covers(q.Status.Hard, wanted) {
			return true
		}
	}
	return false
}

// Lacks reports whether a ResourceQuota that opcrew should create does not exist yet.
func (t Tenant) Lacks() bool {
	return slices.ContainsFunc(Bounds, func(b Bound) bool {
		_, bounded, _ := t.Wanted(b, nil)
		return bounded && t.Quotas[b] == nil
	})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

// Guard refuses a pod if the user who requested the pod's owner has no right to use an object that the pod uses.
type Guard struct {
	// Client creates SubjectAccessReviews. Live reads from the API server.
	Client client.Client
	Live   client.Reader
	// Clock measures how long a refusal is remembered before the right is checked again.
	Clock clock.PassiveClock

	refusals refusals
}

// Object reports the first right that the requester lacks. It returns nil if the requester lacks no right.
func (g *Guard) Object(ctx context.Context, owner client.Object, pod guard.Pod) (*guard.Objection, error) {
	if pod.Trust.All {
		return nil, nil
	}
	asked := questionOf(owner, pod)
	if recent := g.refusals.recent(asked, g.Clock.Now()); recent != nil {
		return recent, nil
	}
	lacking, err := g.lacking(ctx, owner, pod)
	if err != nil || lacking == nil {
		return nil, err
	}
	return g.refusals.remember(asked, objection(pod, lacking), g.Clock.Now()), nil
}

// missing is a right that the requester is not known to have. who is nil if the requester is unknown.
type missing struct {
	reference
	who *requester
}

// lacking returns the first right that is missing; nil if no right is missing. The most expensive check comes last.
func (g *Guard) lacking(ctx context.Context, owner client.Object, pod guard.Pod) (*missing, error) {
	known := ways(pod.Live, pod.Trust)
	all, err := g.uses(ctx, pod)
	if err != nil {
		return nil, err
	}
	siblings, read := map[way]bool{}, false
	for _, r := range added(all, pod.Trust, known) {
		who, allowed, err := g.allowed(ctx, owner, pod, r)
		if err != nil {
			return nil, err
		}
		if allowed {
			known[r.way()] = true
			continue
		}
		if !read {
			if siblings, err = g.siblings(ctx, owner, pod); err != nil {
				return nil, err
			}
			read = true
		}
		if !siblings[r.way()] {
			return &missing{r, who}, nil
		}
	}
	return nil, nil
}

// uses returns the references of a finished pod, or of a new volume claim.
func (g *Guard) uses(ctx context.Context, pod guard.Pod) ([]reference, error) {
	if pod.Template == nil {
		return sources(*pod.Claim), nil
	}
	out, err := g.takenOver(ctx, pod)
	return append(out, references(pod.Template.Spec)...), err
}

// takenOver returns the existing volume claims of other owners that new pods of a StatefulSet would use, because the
// claims have the expected names. Kubernetes does not check the owner of such a claim. A claim that an earlier
// StatefulSet of opcrew left has opcrew's label, so new pods may use that claim.
func (g *Guard) takenOver(ctx context.Context, pod guard.Pod) ([]reference, error) {
	if len(pod.Claims) == 0 {
		return nil, nil
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaimList"))
	if err := g.Live.List(ctx, list, client.InNamespace(pod.Namespace)); err != nil {
		return nil, fmt.Errorf("list the volume claims: %w", err)
	}
	var out []reference
	for _, c := range list.Items {
		if slices.Contains(pod.Claims, c.Name) && c.Labels[common.ManagedByLabel] != common.Name {
			r := claim(c.Name).at("a new pod of " + pod.String())
			r.implied = true
			out = append(out, r)
		}
	}
	return out, nil
}

// added returns the references that the live pod does not have yet, each one once.
func added(all []reference, trust guard.Trust, known map[way]bool) []reference {
	var out []reference
	for _, r := range all {
		again := slices.ContainsFunc(out, func(o reference) bool { return o.way() == r.way() && o.volume == r.volume })
		if !known[r.way()] && !again && !slices.Contains(trust.Volumes, r.volume) {
			out = append(out, r)
		}
	}
	return out
}

// ways returns how a pod in the cluster uses other objects. It omits volumes that do not come from the spec of the
// pod's owner.
func ways(template *corev1.PodTemplateSpec, trust guard.Trust) map[way]bool {
	out := map[way]bool{}
	if template == nil {
		return out
	}
	for _, r := range references(template.Spec) {
		_, ofOther := trust.Requesters[r.volume]
		if !ofOther && !slices.Contains(trust.Volumes, r.volume) {
			out[r.way()] = true
		}
	}
	return out
}

// allowed reports whether a referenced object belongs to the owner of the pod, or the requester may use it.
func (g *Guard) allowed(ctx context.Context, owner client.Object, pod guard.Pod, r reference) (*requester, bool, error) {
	if own, err := g.belongs(ctx, owner, pod.Namespace, r); own || err != nil {
		return nil, own, err
	}
	record, ofOther := pod.Trust.Requesters[r.volume]
	if !ofOther {
		record = owner.GetAnnotations()[common.RequesterAnnotation]
	}
	who := parse(record)
	if who == nil {
		return nil, false, nil
	}
	review := who.review(pod.Namespace, r)
	if err := g.Client.Create(ctx, review); err != nil {
		return who, false, fmt.Errorf("review whether %s may %s %s %s: %w", who.Username, r.verb, r.fullResource(), r.name, err)
	}
	return who, review.Status.Allowed, nil
}

// belongs reports whether the referenced object exists and was created for the owner of the pod. An object in another
// namespace never belongs to the owner.
func (g *Guard) belongs(ctx context.Context, owner client.Object, namespace string, r reference) (bool, error) {
	if r.kind == "" || r.in != "" {
		return false, nil
	}
	object := r.object()
	err := g.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: r.name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the owner of %s %s: %w", r.kind, r.name, err)
	}
	return guard.Owns(owner, object), nil
}

// siblings returns what the other pods of the same owner use. A new pod, such as one more replica, may use the same.
func (g *Guard) siblings(ctx context.Context, owner client.Object, pod guard.Pod) (map[way]bool, error) {
	out := map[way]bool{}
	if pod.Kind != "Pod" {
		return out, nil
	}
	list := &corev1.PodList{}
	labels := client.MatchingLabels{common.OwnerLabel: string(owner.GetUID())}
	if err := g.Live.List(ctx, list, client.InNamespace(pod.Namespace), labels); err != nil {
		return nil, fmt.Errorf("list the other pods: %w", err)
	}
	for _, sibling := range list.Items {
		if !metav1.IsControlledBy(&sibling, owner) {
			continue // only the controller reference counts: any user of the namespace can set the label
		}
		for use := range ways(&corev1.PodTemplateSpec{Spec: sibling.Spec}, pod.Trust) {
			out[use] = true
		}
	}
	return out, nil
}

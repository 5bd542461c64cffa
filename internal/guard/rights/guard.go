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

// Guard refuses a pod that uses something which the requester of its owner has no right to use.
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

// lacking returns the first right that is missing; nil if there is none. It makes the most expensive checks last.
func (g *Guard) lacking(ctx context.Context, owner client.Object, pod guard.Pod) (*missing, error) {
	known := ways(pod.Live, pod.Trust)
	siblings, read := map[way]bool{}, false
	for _, r := range added(pod, known) {
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

// added returns the references that the live pod does not have yet, each one once.
func added(pod guard.Pod, known map[way]bool) []reference {
	var out []reference
	for _, r := range references(pod.Template.Spec) {
		again := slices.ContainsFunc(out, func(o reference) bool { return o.way() == r.way() && o.volume == r.volume })
		if !known[r.way()] && !again && !slices.Contains(pod.Trust.Volumes, r.volume) {
			out = append(out, r)
		}
	}
	return out
}

// ways returns how a pod in the cluster uses other objects. It omits volumes that do not come from the spec of its
// owner.
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

// belongs reports whether the referenced object exists and was created for the owner of the pod.
func (g *Guard) belongs(ctx context.Context, owner client.Object, namespace string, r reference) (bool, error) {
	if r.kind == "" {
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

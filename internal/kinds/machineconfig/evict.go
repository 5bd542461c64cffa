// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/drain"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/rollout"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// evict evicts pods, after it has read the node from the API server: a node that got another order, or was uncordoned,
// keeps its pods. A PodDisruptionBudget that forbids an eviction is no error; the next look explains it.
func (s *shared) evict(ctx context.Context, node *corev1.Node, pods []drain.Pod) error {
	live := &corev1.Node{}
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(node), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	same := live.UID == node.UID && live.Annotations[machineorder.DesiredConfig] == node.Annotations[machineorder.DesiredConfig]
	if !same || !live.Spec.Unschedulable || fleet.Phase(live) != rollout.WantsDrain {
		return kit.ErrNotNow
	}
	return s.evictAll(ctx, node.Name, pods)
}

// errEvict marks the failure of an eviction, which the pool reports as a blocked drain.
var errEvict = errors.New("evict pod")

// evictAll tries every pod, because one refused eviction says nothing about the other pods. The refusals are kept for
// the next observeDrain, which reports them.
func (s *shared) evictAll(ctx context.Context, node string, pods []drain.Pod) error {
	refused, errs := map[types.UID]string{}, []error{}
	for _, pod := range pods {
		if err := s.evictPod(ctx, pod); err != nil {
			refused[pod.UID] = err.Error()
			errs = append(errs, fmt.Errorf("%w %s: %w", errEvict, pod, err))
		}
	}
	s.refused.Set(node, refused)
	return errors.Join(errs...)
}

func (s *shared) evictPod(ctx context.Context, pod drain.Pod) error {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	eviction := &policyv1.Eviction{DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}}
	err := s.Client.SubResource("eviction").Create(ctx, object, eviction)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) {
		return nil
	}
	return err
}

// observeDrain reads the pods of a node, and the PodDisruptionBudgets that may forbid their eviction, from the API
// server: pods may have come to the node since its cordon.
func (s *shared) observeDrain(ctx context.Context, node *corev1.Node) (*drain.Input, error) {
	out := &drain.Input{Node: node.Name, Cordoned: nodepatch.Cordoned(node), Refused: s.refused.Get(node.Name)}
	var err error
	if out.Pods, err = s.livePods(ctx, client.MatchingFields{"spec.nodeName": node.Name}); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, pod := range out.Pods {
		if drain.Stays(pod) || seen[pod.Namespace] {
			continue
		}
		seen[pod.Namespace] = true
		budgets, err := s.budgets(ctx, pod.Namespace)
		if err != nil {
			return nil, err
		}
		out.Budgets = append(out.Budgets, budgets...)
	}
	return out, nil
}

// budgets returns the PodDisruptionBudgets of a namespace. Their pods are read only if there are any.
func (s *shared) budgets(ctx context.Context, namespace string) ([]drain.Budget, error) {
	list := &policyv1.PodDisruptionBudgetList{}
	if err := s.Live.List(ctx, list, client.InNamespace(namespace)); err != nil || len(list.Items) == 0 {
		return nil, err
	}
	pods, err := s.livePods(ctx, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	var out []drain.Budget
	for i := range list.Items {
		out = append(out, drain.NewBudget(&list.Items[i], pods))
	}
	return out, nil
}

const pageSize = 500

func (s *shared) livePods(ctx context.Context, options ...client.ListOption) ([]*corev1.Pod, error) {
	var out []*corev1.Pod
	next := ""
	for {
		list := &corev1.PodList{}
		if err := s.Live.List(ctx, list, append(options, client.Limit(pageSize), client.Continue(next))...); err != nil {
			return nil, fmt.Errorf("list pods: %w", err)
		}
		out = append(out, pointers(list.Items)...)
		if next = list.Continue; next == "" {
			return out, nil
		}
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const (
	// secretInterval passes between two looks at Secrets of the user without common.WatchLabel.
	secretInterval = time.Hour
	// waitInterval passes between two looks while a rollout waits for a quota, or anything
	// for a Secret of the user.
	waitInterval = 10 * time.Second
)

// Plan declares the children. Deletion needs no plan: all of them are collected with
// their owner, and what instances share goes with the last of them.
func (r *reconciler) Plan(m *customv1.MicroServiceDeploy, f facts, now time.Time) kit.Plan {
	if m.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	id, d, plan := identity(m), decide(m, f), kit.Plan{}
	declare := func(objects ...runtime.ApplyConfiguration) {
		for _, object := range objects {
			plan.Children = append(plan.Children, ensure.Child{Object: object})
		}
	}
	stay := d.held != nil && !d.nothing // what leads to pods stays as the pods do
	if !stay {
		declare(service(m))
	}
	declare(corev1ac.ServiceAccount(id.Name, id.Namespace).WithLabels(id.Labels).WithAutomountServiceAccountToken(false))
	if c := declaredConfig(m); c != nil && d.held == nil {
		declare(configObject(m, c))
	}
	if m.Spec.NeedAuth && !stay {
		declare(wall(m, f.rollout))
	}
	if !d.nothing {
		plan.Children = append(plan.Children, deployment(m, f, d))
	}
	if d.scale.autoscaler {
		declare(horizontal(m))
	}
	if d.scale.spread {
		declare(id.DisruptionBudget())
	}
	if has, _ := hosts(m, f.rivals); len(has) > 0 && f.routed(m) {
		declare(httpRoute(m, has))
	} else if len(has) > 0 {
		declare(ingress(m, has))
	}
	plan.Prune, plan.Stays = f.prunable(), func(object client.Object) bool { return f.stays(m, object, stay) }
	plan.Again = kit.Sooner(again(m, f, d), f.rollout.StuckIn(now))
	return plan
}

// routed reports whether host names go through a Gateway.
func (f facts) routed(m *customv1.MicroServiceDeploy) bool {
	return f.gateways && m.Spec.Gateway != nil
}

func (f facts) prunable() []client.ObjectList {
	lists := []client.ObjectList{
		&autoscalingv2.HorizontalPodAutoscalerList{}, &policyv1.PodDisruptionBudgetList{}, &networkingv1.NetworkPolicyList{},
		&networkingv1.IngressList{}, &corev1.ConfigMapList{}, &corev1.SecretList{},
	}
	if f.gateways {
		routes := &unstructured.UnstructuredList{}
		routes.SetGroupVersionKind(routeKind.GroupVersion().WithKind(routeKind.Kind + "List"))
		lists = append(lists, routes)
	}
	return lists
}

// stays keeps configurations that pods or revisions still name, that of the spec, which is
// not declared while pods are held, whatever was only copied from one, and the wall of
// pods that are not changed.
func (f facts) stays(m *customv1.MicroServiceDeploy, object client.Object, held bool) bool {
	switch object.(type) {
	case *corev1.ConfigMap, *corev1.Secret:
		_, named := f.configs[object.GetName()]
		return named || object.GetName() == f.configName(m) || !isConfig(m, object)
	case *networkingv1.NetworkPolicy:
		return held
	}
	return false
}

func again(m *customv1.MicroServiceDeploy, f facts, d decision) time.Duration {
	switch {
	case d.held != nil && (d.held.reason == customv1.ReasonQuotaTooSmall || d.held.reason == customv1.ReasonConfigMissing):
		return waitInterval
	case m.Spec.NeedAuth && !f.credentials:
		return waitInterval
	case m.Spec.ConfigFrom != nil || m.Spec.NeedAuth && m.Spec.Auth != nil:
		return secretInterval
	}
	return 0
}

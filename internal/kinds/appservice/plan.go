// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// Plan declares the children. Deletion needs no plan: all of them are collected with
// their owner.
func (r *reconciler) Plan(a *appv1.AppService, f facts, now time.Time) kit.Plan {
	if a.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	id, plan := identity(a), kit.Plan{Again: f.rollout.StuckIn(now)}
	if len(a.Spec.Ports) > 0 {
		plan.Children = append(plan.Children, ensure.Child{Object: id.Service(a.Spec.Ports)})
	}
	if pods, ok := deployment(a, f); ok {
		plan.Children = append(plan.Children, pods)
	}
	// A budget over one pod would hold up every drain, or allow all of them.
	if a.Spec.Replicas() > 1 {
		plan.Children = append(plan.Children, ensure.Child{Object: id.DisruptionBudget()})
	}
	plan.Prune = []client.ObjectList{&corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}}
	return plan
}

// deployment declares the pods. With an image that is none, those that run stay as they
// are, and none is made where there are none.
func deployment(a *appv1.AppService, f facts) (ensure.Child, bool) {
	object := identity(a).Deployment(a.Spec.Replicas(), template(a))
	child := workload.Pinned(object, wishes(a))
	if workload.InvalidImage(a.Spec.Image) == "" {
		return child, true
	}
	if f.rollout.Deployment == nil {
		return ensure.Child{}, false
	}
	return workload.Held(child, f.rollout.Deployment), true
}

// wishes are what pods are replaced for when it changes, and nothing that they do not know of.
func wishes(a *appv1.AppService) appv1.AppServiceSpec {
	spec := a.Spec
	spec.Size, spec.Ports = nil, nil
	for _, p := range a.Spec.Ports {
		wish := common.Port{Port: workload.ContainerPort(p), Protocol: p.Protocol}
		if p.TargetPort.IntOrString().Type == intstr.String {
			wish.TargetPort = p.TargetPort
		}
		spec.Ports = append(spec.Ports, wish)
	}
	return spec
}

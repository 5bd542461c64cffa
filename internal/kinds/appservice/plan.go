// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
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

// decision holds what Plan and Report need in addition to the facts.
type decision struct {
	// invalidImage explains why spec.image cannot be used; empty if it can.
	invalidImage string
	// again is the time until the next reconcile; 0 if none is scheduled.
	again time.Duration
}

// Decide checks the image and computes the time of the next reconcile, from the facts alone.
func (r *reconciler) Decide(a *appv1.AppService, f facts, now time.Time) decision {
	return decision{invalidImage: workload.InvalidImage(a.Spec.Image), again: f.rollout.StuckIn(now)}
}

// Plan declares the children. A deleted AppService needs no plan, because the garbage collector deletes its children.
func (r *reconciler) Plan(a *appv1.AppService, f facts, d decision) kit.Plan {
	if a.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	id, plan := identity(a), kit.Plan{Again: d.again}
	if len(a.Spec.Ports) > 0 {
		plan.Children = append(plan.Children, ensure.Child{Object: id.Service(a.Spec.Ports)})
	}
	if pods, ok := deployment(a, f.rollout.Deployment, d.invalidImage != ""); ok {
		plan.Children = append(plan.Children, pods)
	}
	// A PodDisruptionBudget for a single pod would either block every drain or allow every eviction.
	if a.Spec.Replicas() > 1 {
		plan.Children = append(plan.Children, ensure.Child{Object: id.DisruptionBudget()})
	}
	plan.Prune = []client.ObjectList{&corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}}
	return plan
}

// deployment declares the Deployment. With an invalid image, it keeps the running pods unchanged, or returns false if
// there is no Deployment yet.
func deployment(a *appv1.AppService, live *appsv1.Deployment, invalidImage bool) (ensure.Child, bool) {
	object := identity(a).Deployment(a.Spec.Replicas(), template(a))
	child := workload.Secured(workload.Pinned(object, podSettings(a)), a.Spec.SecurityProfile)
	if !invalidImage {
		return child, true
	}
	if live == nil {
		return ensure.Child{}, false
	}
	return workload.Held(child, live), true
}

// podSettings returns the fields of the spec whose changes replace pods.
func podSettings(a *appv1.AppService) appv1.AppServiceSpec {
	spec := a.Spec
	spec.Size, spec.Ports = nil, nil
	for _, p := range a.Spec.Ports {
		port := common.Port{Port: workload.ContainerPort(p), Protocol: p.Protocol}
		if p.TargetPort.IntOrString().Type == intstr.String {
			port.TargetPort = p.TargetPort
		}
		spec.Ports = append(spec.Ports, port)
	}
	return spec
}

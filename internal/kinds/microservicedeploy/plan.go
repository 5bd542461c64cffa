// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
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
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/hosts"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/ports"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

const (
	// secretInterval is the time between two reads of a user's Secret without common.WatchLabel.
	secretInterval = time.Hour
	// waitInterval is the time between two checks while a rollout waits for room in a quota, or a MicroServiceDeploy
	// waits for a user's Secret.
	waitInterval = 10 * time.Second
)

// Plan declares the objects of a MicroServiceDeploy. A deleted MicroServiceDeploy needs no plan: the garbage collector
// deletes its objects, and package tenant deletes what MicroServiceDeploys share.
func (r *reconciler) Plan(m *customv1.MicroServiceDeploy, f facts, d decision) kit.Plan {
	if m.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	id, plan := names.Identity(m), kit.Plan{}
	declare := func(objects ...runtime.ApplyConfiguration) {
		for _, object := range objects {
			plan.Children = append(plan.Children, ensure.Child{Object: object})
		}
	}
	stay := d.held != nil && !d.nothing // while pods stay unchanged, their Service and NetworkPolicy must stay as well
	if !stay {
		declare(ports.Service(m))
	}
	declare(corev1ac.ServiceAccount(id.Name, id.Namespace).WithLabels(id.Labels).WithAutomountServiceAccountToken(false))
	if c := config.Declared(m); c != nil && d.held == nil {
		declare(config.Object(m, c))
	}
	if m.Spec.NeedAuth && !stay {
		declare(auth.Policy(m, f.rollout))
	}
	if !d.nothing {
		plan.Children = append(plan.Children, deployment(m, f.rollout, d))
	}
	if d.scale.Autoscaler {
		declare(scaling.Autoscaler(m))
	}
	if d.scale.Spread {
		declare(id.DisruptionBudget())
	}
	if len(d.hosts) > 0 {
		declare(entrance(m, d.hosts, f.gateways))
	}
	plan.Prune = prunable(f.gateways)
	plan.Stays = func(object client.Object) bool { return stays(m, object, f.configs, d.config, stay) }
	for _, wait := range d.again {
		plan.LookAgain(wait)
	}
	return plan
}

// entrance declares the object that routes host names to the Service: an HTTPRoute if the cluster has the Gateway API
// and the spec names a Gateway, or else an Ingress.
func entrance(m *customv1.MicroServiceDeploy, names []string, gateways bool) runtime.ApplyConfiguration {
	if gateways && m.Spec.Gateway != nil {
		return hosts.Route(m, names)
	}
	return hosts.Ingress(m, names)
}

func prunable(gateways bool) []client.ObjectList {
	lists := []client.ObjectList{
		&autoscalingv2.HorizontalPodAutoscalerList{}, &policyv1.PodDisruptionBudgetList{}, &networkingv1.NetworkPolicyList{},
		&networkingv1.IngressList{}, &corev1.ConfigMapList{}, &corev1.SecretList{},
	}
	if gateways {
		routes := &unstructured.UnstructuredList{}
		routes.SetGroupVersionKind(hosts.RouteKind.GroupVersion().WithKind(hosts.RouteKind.Kind + "List"))
		lists = append(lists, routes)
	}
	return lists
}

// stays reports whether opcrew keeps an object that the plan does not declare. It keeps configurations that pods,
// revisions or the spec use, and users' copies of configurations. While pods stay unchanged, it keeps the
// NetworkPolicy.
func stays(m *customv1.MicroServiceDeploy, object client.Object, named map[string]*config.Config, specConfig string, held bool) bool {
	switch object.(type) {
	case *corev1.ConfigMap, *corev1.Secret:
		_, isNamed := named[object.GetName()]
		return isNamed || object.GetName() == specConfig || !isConfig(m, object)
	case *networkingv1.NetworkPolicy:
		return held
	}
	return false
}

// deployment declares the Deployment. If the pods must not change, it keeps their current template.
func deployment(m *customv1.MicroServiceDeploy, r workload.Rollout, d decision) ensure.Child {
	pods := d.scale.Replicas
	if d.held != nil && d.held.quota && r.Deployment != nil {
		// Do not add pods: if a quota rejects new pods, Kubernetes retries them after ever longer delays.
		pods = min(pods, r.Replicas())
	}
	ac := names.Identity(m).Deployment(pods, build.Template(m, d.pods))
	ac.Spec.WithRevisionHistoryLimit(revisions.MostKept)
	if d.scale.Awake > 0 {
		ac.WithAnnotations(map[string]string{scaling.AwakeAnnotation: fmt.Sprint(d.scale.Awake)})
	}
	child := workload.Secured(workload.Pinned(ac, build.Settings(m, d.userConfigHash)), m.Spec.SecurityProfile)
	if d.held != nil && r.Deployment != nil {
		child = workload.Held(child, r.Deployment)
	}
	child.Trust = auth.Trust(m)
	if d.scale.Live {
		child.Carry = append(child.Carry, "spec.replicas")
	}
	return child
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"encoding/json"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// specs returns the specs of all pods in a namespace, and of the pod templates in its Deployments and StatefulSets.
func (w *world) specs(ns string) []corev1.PodSpec {
	w.Helper()
	deployments, sets := &appsv1.DeploymentList{}, &appsv1.StatefulSetList{}
	for _, list := range []client.ObjectList{deployments, sets} {
		if err := w.admin.List(w.Context(), list, client.InNamespace(ns)); err != nil {
			w.Fatal(err)
		}
	}
	out := w.podSpecs(ns)
	for _, each := range deployments.Items {
		out = append(out, each.Spec.Template.Spec)
	}
	for _, each := range sets.Items {
		out = append(out, each.Spec.Template.Spec)
	}
	return out
}

// podSpecs returns the specs of the pods that exist in a namespace.
func (w *world) podSpecs(ns string) []corev1.PodSpec {
	w.Helper()
	pods := &corev1.PodList{}
	if err := w.admin.List(w.Context(), pods, client.InNamespace(ns)); err != nil {
		w.Fatal(err)
	}
	var out []corev1.PodSpec
	for _, each := range pods.Items {
		out = append(out, each.Spec)
	}
	return out
}

// containers returns all containers of a pod, including init containers.
func containers(spec corev1.PodSpec) []corev1.Container {
	return slices.Concat(spec.InitContainers, spec.Containers)
}

// aPodHas returns a function that reports harm if check returns true for a pod in the tenant's namespace.
func aPodHas(what string, check func(corev1.PodSpec) bool) func(w *world) string {
	return func(w *world) string {
		if slices.ContainsFunc(w.specs(w.ns), check) {
			return "a pod of the tenant has " + what
		}
		return ""
	}
}

// aContainerHas returns a function that reports harm if check returns true for a container of the tenant.
func aContainerHas(what string, check func(corev1.Container) bool) func(w *world) string {
	return aPodHas(what, func(spec corev1.PodSpec) bool { return slices.ContainsFunc(containers(spec), check) })
}

// aContainerIs returns a function that reports harm if check returns true for the security context of a container.
func aContainerIs(what string, check func(corev1.SecurityContext) bool) func(w *world) string {
	return aContainerHas(what, func(c corev1.Container) bool { return c.SecurityContext != nil && check(*c.SecurityContext) })
}

// aPodMentions returns a function that reports harm if the spec of a pod contains text, such as the name of a Secret.
func aPodMentions(text string) func(w *world) string {
	return aPodHas(text, func(spec corev1.PodSpec) bool {
		raw, err := json.Marshal(spec)
		return err == nil && strings.Contains(string(raw), text)
	})
}

// volumes returns a function that reports whether check returns true for a volume of a pod.
func volumes(check func(corev1.Volume) bool) func(corev1.PodSpec) bool {
	return func(spec corev1.PodSpec) bool { return slices.ContainsFunc(spec.Volumes, check) }
}

func is[T any](value *T, check func(T) bool) bool { return value != nil && check(*value) }

func yes(value *bool) bool { return value != nil && *value }

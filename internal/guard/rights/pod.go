// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// Every pod may use the PriorityClass that opcrew creates. It may use the default ServiceAccount if that account's
// token is not mounted.
const (
	defaultAccount = "default"
	ownPriority    = "opcrew-microservices"
)

// references lists the objects that a pod uses, in the order of its fields, without empty names.
func references(pod corev1.PodSpec) []reference {
	out := settings(pod)
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		out = append(out, environment(c.Name, c.Env, c.EnvFrom)...)
	}
	for _, c := range pod.EphemeralContainers {
		out = append(out, environment(c.Name, c.Env, c.EnvFrom)...)
	}
	for _, v := range pod.Volumes {
		for _, r := range append(volume(v), token(v, pod.ServiceAccountName)...) {
			r.volume = v.Name
			out = append(out, r.at("volume "+v.Name))
		}
	}
	return slices.DeleteFunc(out, func(r reference) bool { return r.name == "" })
}

// settings lists the objects that pod-level fields refer to, such as serviceAccountName and imagePullSecrets.
func settings(pod corev1.PodSpec) []reference {
	var out []reference
	for _, name := range []string{pod.ServiceAccountName, pod.DeprecatedServiceAccount} {
		if name != defaultAccount || mountsToken(pod) {
			out = append(out, account(name).at("serviceAccountName"))
		}
	}
	for _, s := range pod.ImagePullSecrets {
		out = append(out, secret(s.Name).at("imagePullSecrets"))
	}
	if pod.PriorityClassName != ownPriority {
		out = append(out, used(schedulingv1.GroupName, "priorityclasses", pod.PriorityClassName).at("priorityClassName"))
	}
	if pod.RuntimeClassName != nil {
		out = append(out, used(nodev1.GroupName, "runtimeclasses", *pod.RuntimeClassName).at("runtimeClassName"))
	}
	for _, c := range pod.ResourceClaims {
		if c.ResourceClaimName != nil {
			out = append(out, used(resourcev1.GroupName, "resourceclaims", *c.ResourceClaimName).at("resource claim "+c.Name))
		}
		if c.ResourceClaimTemplateName != nil {
			out = append(out, used(resourcev1.GroupName, "resourceclaimtemplates", *c.ResourceClaimTemplateName).at("resource claim "+c.Name))
		}
	}
	return out
}

// mountsToken reports whether Kubernetes mounts the token of the pod's ServiceAccount, which it does by default.
func mountsToken(pod corev1.PodSpec) bool {
	return pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken
}

// environment lists the Secrets and ConfigMaps that set variables of a container.
func environment(container string, env []corev1.EnvVar, from []corev1.EnvFromSource) []reference {
	var out []reference
	for _, e := range env {
		where := "variable " + e.Name + " of container " + container
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			out = append(out, secret(e.ValueFrom.SecretKeyRef.Name).at(where))
		}
		if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
			out = append(out, configMap(e.ValueFrom.ConfigMapKeyRef.Name).at(where))
		}
	}
	for _, e := range from {
		where := "the environment of container " + container
		if e.SecretRef != nil {
			out = append(out, secret(e.SecretRef.Name).at(where))
		}
		if e.ConfigMapRef != nil {
			out = append(out, configMap(e.ConfigMapRef.Name).at(where))
		}
	}
	return out
}

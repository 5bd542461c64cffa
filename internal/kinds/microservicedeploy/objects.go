// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// configHashAnnotation has pods replaced when a user's Secret changes.
const configHashAnnotation = "opcrew.io/config-hash"

// deployment declares the pods. Those that must not be changed stay as they are.
func deployment(m *customv1.MicroServiceDeploy, f facts, d decision) ensure.Child {
	pods := d.scale.replicas
	if d.held != nil && d.held.quota && f.rollout.Deployment != nil {
		pods = min(pods, f.rollout.Replicas()) // pods that the quota refuses come back late
	}
	ac := identity(m).Deployment(pods, template(m, f, d.revision))
	ac.Spec.WithRevisionHistoryLimit(maxRevisions)
	if d.scale.awake > 0 {
		ac.WithAnnotations(map[string]string{awakeAnnotation: fmt.Sprint(d.scale.awake)})
	}
	child := workload.Pinned(ac, wishes(m, f))
	if d.held != nil && f.rollout.Deployment != nil {
		child = workload.Held(child, f.rollout.Deployment)
	}
	if d.scale.live {
		child.Carry = append(child.Carry, "spec.replicas")
	}
	return child
}

// wishes are what pods are replaced for when it changes, and nothing that they do not know of.
func wishes(m *customv1.MicroServiceDeploy, f facts) any {
	s := m.Spec
	s.Path, s.Ports = "", slices.Clone(s.Ports)
	s.CreationTimestamp = "" //nolint:staticcheck // it is users who shall not use it
	for i := range s.Ports {
		s.Ports[i].NodePort = nil
		if !s.NeedAuth || s.Ports[i].AppProtocol != h2c { // else the proxy speaks it too
			s.Ports[i].AppProtocol = ""
		}
	}
	s.Replicas, s.MaxReplicas, s.Metrics, s.Autoscaling, s.Idle = nil, nil, nil, false, false
	if quotaMode(m) != customv1.QuotaPriorityClass { // pods know of no other
		s.Quota = ""
	}
	s.BaseDomain, s.Gateway, s.IngressClassName, s.Current = "", nil, "", nil
	hash := ""
	if f.config != nil {
		hash = f.config.hash
	}
	return []any{s, hash}
}

func template(m *customv1.MicroServiceDeploy, f facts, r customv1.Revision) *corev1ac.PodTemplateSpecApplyConfiguration {
	template := identity(m).Template(container(m, f, r))
	template.WithAnnotations(map[string]string{revisionAnnotation: fmt.Sprint(r.Revision), revisionHashAnnotation: revisionHash(r)})
	template.Spec.WithServiceAccountName(childName(m))
	if quotaMode(m) == customv1.QuotaPriorityClass {
		template.Spec.WithPriorityClassName(customv1.QuotaPriorityClassName)
	}
	if m.Spec.Version != "" {
		template.WithLabels(map[string]string{"app.kubernetes.io/version": m.Spec.Version})
	}
	if c := f.configOf(m, r); c != nil {
		template.Spec.WithVolumes(c.volume())
		if c.hash != "" {
			template.WithAnnotations(map[string]string{configHashAnnotation: c.hash})
		}
	}
	if m.Spec.NeedAuth {
		template.WithLabels(map[string]string{authLabel: "true"})
		template.Spec.WithContainers(proxy(m, f.helperImage))
		for _, s := range sources(m) {
			template.Spec.WithVolumes(s.mount())
		}
	}
	template.Spec.WithImagePullSecrets(podtemplate.Convert[[]*corev1ac.LocalObjectReferenceApplyConfiguration](m.Spec.ImagePullSecrets)...)
	podtemplate.Override(template, m.Spec.Pod)
	if m.Spec.Pod != nil && m.Spec.Pod.ServiceAccountName != "" {
		// Who names an account wants to be it: whether its token is mounted is the account's own say.
		template.Spec.AutomountServiceAccountToken = nil
	}
	return template
}

func container(m *customv1.MicroServiceDeploy, f facts, r customv1.Revision) *corev1ac.ContainerApplyConfiguration {
	c := workload.Container(mainContainer, cmp.Or(r.Image, m.Spec.Image), nil)
	listens(c, m)
	workload.WithResources(c, m.Spec.ResourceRequirements)
	environment(c, m, f.configOf(m, r))
	if f.configOf(m, r) != nil {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName("config").WithMountPath(configDir).WithReadOnly(true))
	}
	probes(c, m)
	if m.Spec.NeedAuth {
		c.Lifecycle.PreStop.Sleep.WithSeconds(drainBehindProxy)
	}
	return c
}

// environment sets the variables of the spec, and those of the configuration that it does
// not set itself.
func environment(c *corev1ac.ContainerApplyConfiguration, m *customv1.MicroServiceDeploy, from *config) {
	workload.WithEnvs(c, m.Spec.Envs)
	own := func(name string) bool {
		return slices.ContainsFunc(m.Spec.Envs, func(e corev1.EnvVar) bool { return e.Name == name })
	}
	if from != nil {
		for _, variable := range from.env() {
			if !own(*variable.Name) {
				c.WithEnv(variable)
			}
		}
	}
	configured := from != nil && slices.Contains(from.Keys, "PORT")
	if len(m.Spec.Ports) == 0 && !own("PORT") && !configured {
		c.WithEnv(corev1ac.EnvVar().WithName("PORT").WithValue(fmt.Sprint(customv1.DefaultTargetPort)))
	}
}

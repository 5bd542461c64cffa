// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package build declares the pods of a MicroServiceDeploy. It makes no decisions: the caller passes the revision (an
// image and its configuration) to run.
package build

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/ports"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"

	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// ConfigHashAnnotation holds a hash of the user's Secret with the configuration. When the Secret changes, this
// annotation of the pod template changes too, so that the pods are replaced.
const ConfigHashAnnotation = "opcrew.io/config-hash"

// Pods holds the input for the pod template in addition to the spec.
type Pods struct {
	Revision customv1.Revision
	// Config is the configuration of Revision; nil if Revision has none.
	Config *config.Config
	// AgentImage is the image of the proxy container.
	AgentImage string
}

// Settings returns everything whose change replaces the pods: fields of the spec, and the hash of a user's Secret with
// the configuration.
func Settings(m *customv1.MicroServiceDeploy, configHash string) any {
	s := m.Spec
	s.Path, s.Ports = "", slices.Clone(s.Ports)
	s.CreationTimestamp = "" //nolint:staticcheck // the field is deprecated only for users
	for i := range s.Ports {
		s.Ports[i].NodePort = nil
		// With authentication, the arguments of the proxy depend on whether the appProtocol is h2c.
		if !s.NeedAuth || s.Ports[i].AppProtocol != ports.H2c {
			s.Ports[i].AppProtocol = ""
		}
	}
	s.Replicas, s.MaxReplicas, s.Metrics, s.Autoscaling, s.Idle = nil, nil, nil, false, false
	if names.QuotaMode(m) != customv1.QuotaPriorityClass { // spec.quota affects pods only in the mode PriorityClass
		s.Quota = ""
	}
	s.BaseDomain, s.Gateway, s.IngressClassName, s.Current = "", nil, "", nil
	return []any{s, configHash}
}

// Template declares the pod template.
func Template(m *customv1.MicroServiceDeploy, p Pods) *corev1ac.PodTemplateSpecApplyConfiguration {
	template := names.Identity(m).Template(container(m, p))
	template.WithAnnotations(map[string]string{revisions.RevisionAnnotation: fmt.Sprint(p.Revision.Revision), revisions.RevisionHashAnnotation: revisions.HashOf(p.Revision)})
	template.Spec.WithServiceAccountName(names.Child(m))
	if names.QuotaMode(m) == customv1.QuotaPriorityClass {
		template.Spec.WithPriorityClassName(customv1.QuotaPriorityClassName)
	}
	if m.Spec.Version != "" {
		template.WithLabels(map[string]string{"app.kubernetes.io/version": m.Spec.Version})
	}
	if c := p.Config; c != nil {
		template.Spec.WithVolumes(c.Volume())
		if c.Hash != "" {
			template.WithAnnotations(map[string]string{ConfigHashAnnotation: c.Hash})
		}
	}
	if m.Spec.NeedAuth {
		template.WithLabels(map[string]string{auth.AuthLabel: "true"})
		template.Spec.WithContainers(auth.Container(m, p.AgentImage))
		for _, s := range auth.Sources(m) {
			template.Spec.WithVolumes(s.Mount())
		}
	}
	template.Spec.WithImagePullSecrets(podtemplate.Convert[[]*corev1ac.LocalObjectReferenceApplyConfiguration](m.Spec.ImagePullSecrets)...)
	workload.Restrict(template, m.Spec.SecurityProfile)
	podtemplate.Override(template, m.Spec.Pod)
	if m.Spec.Pod != nil && podtemplate.NamesAccount(m.Spec.Pod.ServiceAccountName) {
		// If the user names an account other than default, that account decides whether its token is mounted.
		template.Spec.AutomountServiceAccountToken = nil
	}
	return template
}

func container(m *customv1.MicroServiceDeploy, p Pods) *corev1ac.ContainerApplyConfiguration {
	c := workload.Container(names.MainContainer, cmp.Or(p.Revision.Image, m.Spec.Image), nil)
	ports.AddPorts(c, m)
	workload.WithResources(c, m.Spec.ResourceRequirements)
	AddEnvironment(c, m, p.Config)
	if p.Config != nil {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName("config").WithMountPath(config.Dir).WithReadOnly(true))
	}
	ports.AddProbes(c, m)
	if m.Spec.NeedAuth {
		c.Lifecycle.PreStop.Sleep.WithSeconds(auth.DrainBehindProxy)
	}
	return c
}

// AddEnvironment sets the environment variables in the spec. It also sets the variables of the configuration, except
// those that the spec itself sets.
func AddEnvironment(c *corev1ac.ContainerApplyConfiguration, m *customv1.MicroServiceDeploy, from *config.Config) {
	workload.WithEnvs(c, m.Spec.Envs)
	own := func(name string) bool {
		return slices.ContainsFunc(m.Spec.Envs, func(e corev1.EnvVar) bool { return e.Name == name })
	}
	if from != nil {
		for _, variable := range from.Env() {
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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	mcfgv1ac "github.com/opcrew/opcrew/applyconfigurations/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// generatedBy is the version of the rendering in GeneratedByAnnotation.
const generatedBy = "opcrew-v1"

// renderedConfig declares the rendered MachineConfig. References to Secrets stay references in it.
func renderedConfig(r rendering) *mcfgv1ac.MachineConfigApplyConfiguration {
	spec := mcfgv1ac.MachineConfigSpec().WithConfig(r.rendered.Spec.Config)
	if args := r.rendered.Spec.KernelArguments; len(args) > 0 {
		spec.WithKernelArguments(args...)
	}
	return mcfgv1ac.MachineConfig(r.host.Name).
		WithAnnotations(map[string]string{mcfgv1.GeneratedByAnnotation: generatedBy}).
		WithSpec(spec)
}

// deliveredSecret declares the Secret from which machine agents read the configuration. It never changes.
func deliveredSecret(r rendering) *corev1ac.SecretApplyConfiguration {
	data := map[string][]byte{machineorder.SecretKey: r.encoded}
	var paths []string
	for _, use := range r.rendered.Secrets {
		paths = append(paths, use.Path)
	}
	if len(paths) > 0 {
		data[secretPathsKey] = []byte(strings.Join(paths, "\n"))
	}
	return corev1ac.Secret(r.host.Name, machineorder.Namespace).
		WithType(corev1.SecretTypeOpaque).WithImmutable(true).WithData(data)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	mcfgv1ac "github.com/opcrew/opcrew/applyconfigurations/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// keyField is the key of the Secret with the key for hashes of secret data.
const keyField = "key"

// generatedBy is the version of the rendering in GeneratedByAnnotation.
const generatedBy = "opcrew-v1"

const (
	// keyNamespace has the Secrets with keys. They are not in the namespace of the configurations, because each machine
	// agent can read all Secrets there, and could guess short secrets with a key.
	keyNamespace = "opcrew-machine-keys"
	// keyPrefix begins the names of the Secrets with keys.
	keyPrefix = "hash-key-"
)

func keyName(pool *mcfgv1.MachineConfigPool) string { return keyPrefix + pool.Name }

// isKey reports whether an object is the key of a pool.
func isKey(pool *mcfgv1.MachineConfigPool, object client.Object) bool {
	return object.GetNamespace() == keyNamespace && object.GetName() == keyName(pool)
}

// keySecret declares the key for hashes of secret data. Of opcrew's accounts, only the operator's can read it.
func keySecret(pool *mcfgv1.MachineConfigPool, key []byte) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(keyName(pool), keyNamespace).
		WithType(corev1.SecretTypeOpaque).WithImmutable(true).WithData(map[string][]byte{keyField: key})
}

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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podtemplate applies the pod settings of a user (an override) to the pod template that a kind has built. An
// override can add settings, but cannot replace what the kind decides. Its type is in api/common.
package podtemplate

import (
	"encoding/json"
	"fmt"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/opcrew/opcrew/api/common"
)

// Override applies an override, which may be nil, to a template. Labels and annotations of the template take
// precedence. Lists in the override replace lists of the template.
func Override(template *corev1ac.PodTemplateSpecApplyConfiguration, override *common.PodOverride) {
	if override == nil {
		return
	}
	spec, own := template.Spec, template.ObjectMetaApplyConfiguration
	if own == nil {
		own = &metav1ac.ObjectMetaApplyConfiguration{}
	}
	if labels := missing(override.Labels, own.Labels); len(labels) > 0 {
		template.WithLabels(labels)
	}
	if annotations := missing(override.Annotations, own.Annotations); len(annotations) > 0 {
		template.WithAnnotations(annotations)
	}
	if len(override.NodeSelector) > 0 {
		spec.WithNodeSelector(override.NodeSelector)
	}
	names(spec, override)
	lists(spec, override)
}

// DefaultServiceAccount is set in every template that names no other account. If the field were omitted after an
// account had been set, the API server would restore that account from a deprecated field.
const DefaultServiceAccount = "default"

// NamesAccount reports whether a spec names a service account other than default. Every user may name the default
// account, so pods must not get its token: an administrator may have bound rights to that account.
func NamesAccount(name string) bool { return name != "" && name != DefaultServiceAccount }

func names(spec *corev1ac.PodSpecApplyConfiguration, override *common.PodOverride) {
	for _, name := range []struct {
		wanted string
		field  **string
	}{
		{override.PriorityClassName, &spec.PriorityClassName},
		{override.RuntimeClassName, &spec.RuntimeClassName},
		{override.ServiceAccountName, &spec.ServiceAccountName},
	} {
		if name.wanted != "" {
			*name.field = &name.wanted
		}
	}
}

func lists(spec *corev1ac.PodSpecApplyConfiguration, override *common.PodOverride) {
	if len(override.Tolerations) > 0 {
		spec.Tolerations = Convert[[]corev1ac.TolerationApplyConfiguration](override.Tolerations)
	}
	if len(override.ImagePullSecrets) > 0 {
		spec.ImagePullSecrets = Convert[[]corev1ac.LocalObjectReferenceApplyConfiguration](override.ImagePullSecrets)
	}
	if len(override.TopologySpreadConstraints) > 0 {
		spec.TopologySpreadConstraints = Convert[[]corev1ac.TopologySpreadConstraintApplyConfiguration](override.TopologySpreadConstraints)
	}
	if override.Affinity != nil {
		spec.Affinity = Convert[*corev1ac.AffinityApplyConfiguration](override.Affinity)
	}
}

// Convert converts an API type to its apply configuration. Both have the same JSON, but the apply configuration omits
// unset fields.
func Convert[To any](from any) To {
	var to To
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, &to)
	}
	if err != nil { // encoding and decoding an API object cannot fail
		panic(fmt.Errorf("convert %T: %w", from, err))
	}
	return to
}

// Over returns defaults with the fields that a user has set. Fields that the user has not set keep their default.
func Over[AC any](defaults *AC, set any) *AC {
	raw, err := json.Marshal(set)
	if err == nil {
		err = json.Unmarshal(raw, defaults)
	}
	if err != nil { // encoding and decoding a decoded API object cannot fail
		panic(fmt.Errorf("apply %T to defaults: %w", set, err))
	}
	return defaults
}

// missing returns the wanted key-value pairs whose key is not set yet.
func missing(wanted, there map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range wanted {
		if _, ok := there[key]; !ok {
			out[key] = value
		}
	}
	return out
}

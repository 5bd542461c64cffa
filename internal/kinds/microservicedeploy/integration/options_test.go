// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
)

type option func(*customv1.MicroServiceDeploy)

func withImage(image string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Image = image }
}

func withReplicas(n int32) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Replicas = &n }
}

func withConfig(text string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Config = text }
}

func asSecret(m *customv1.MicroServiceDeploy) { m.Spec.ConfigAs = customv1.ConfigAsSecret }

func configFrom(name string) option {
	return func(m *customv1.MicroServiceDeploy) {
		m.Spec.ConfigFrom = &customv1.ConfigFrom{SecretRef: customv1.SecretRef{Name: name}}
	}
}

// backTo sets spec.rollbackTo to a revision; 0 removes it.
func backTo(revision int64) option {
	return func(m *customv1.MicroServiceDeploy) {
		if m.Spec.RollbackTo = &revision; revision == 0 {
			m.Spec.RollbackTo = nil
		}
	}
}

func autoscaled(on bool) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Autoscaling = on }
}

func idle(is bool) option { return func(m *customv1.MicroServiceDeploy) { m.Spec.Idle = is } }

func needAuth(needs bool) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.NeedAuth = needs }
}

func authOf(secret string) option {
	return func(m *customv1.MicroServiceDeploy) {
		m.Spec.NeedAuth, m.Spec.Auth = true, &customv1.Auth{SecretRef: customv1.SecretRef{Name: secret}}
	}
}

// asks sets a CPU request and no other resource.
func asks(cpu common.Amount) option {
	return func(m *customv1.MicroServiceDeploy) {
		m.Spec.ResourceRequirements.Requests = map[corev1.ResourceName]common.Amount{corev1.ResourceCPU: cpu}
	}
}

func quotaMode(mode customv1.QuotaMode) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Quota = mode }
}

func hosted(path string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Path, m.Spec.BaseDomain = path, "example.com" }
}

func throughGateway(m *customv1.MicroServiceDeploy) {
	m.Spec.Gateway = &customv1.Gateway{Name: "front"}
}

func current(is bool) option { return func(m *customv1.MicroServiceDeploy) { m.Spec.Current = &is } }

func fullName(name string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.FullName = name }
}

func atNodes(port int32) option {
	return func(m *customv1.MicroServiceDeploy) {
		m.Spec.Ports = []common.Port{{Name: "http", Port: 80, TargetPort: "8080", NodePort: &port}}
	}
}

func annotated(key, value string) option {
	return func(m *customv1.MicroServiceDeploy) { metav1.SetMetaDataAnnotation(&m.ObjectMeta, key, value) }
}

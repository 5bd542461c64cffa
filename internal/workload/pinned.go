// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const templatePath = "spec.template"

// Pinned is a Deployment whose pods are replaced for their owner's wishes alone, and not
// for those of a new version of the operator.
func Pinned(declared *appsv1ac.DeploymentApplyConfiguration, wishes any) ensure.Child {
	return ensure.Child{Object: declared, Pin: &ensure.Pin{Path: templatePath, Key: wishes}}
}

// Held is a Deployment whose pods stay as they are, whatever is declared of them. They stay
// pinned to the wishes that they were made for: what is held back and then taken back,
// perhaps after an upgrade, replaces none.
func Held(declared *appsv1ac.DeploymentApplyConfiguration, live *appsv1.Deployment) ensure.Child {
	if live != nil {
		if pinned, ok := live.Annotations[common.PinnedAnnotation]; ok {
			declared.WithAnnotations(map[string]string{common.PinnedAnnotation: pinned})
		}
	}
	return ensure.Child{Object: declared, Carry: []string{templatePath}}
}

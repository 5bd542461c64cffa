// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const templatePath = "spec.template"

// Pinned is a Deployment or StatefulSet whose pods are replaced only for a change of its owner's settings, and not for
// an upgrade of the operator.
func Pinned(declared runtime.ApplyConfiguration, settings any) ensure.Child {
	return ensure.Child{Object: declared, Pin: &ensure.Pin{Path: templatePath, Key: settings}}
}

// Held is such a child whose pods must stay as they are. They stay pinned to the settings that they were created with,
// so that a change that is held and then reverted replaces none. Nothing else recreates the child.
func Held(child ensure.Child, live client.Object) ensure.Child {
	child.Carry = append(slices.Concat(child.Carry, child.ReplaceOn), templatePath)
	child.Pin, child.ReplaceOn = nil, nil
	pinned, ok := live.GetAnnotations()[common.PinnedAnnotation]
	if !ok {
		return child
	}
	annotations := map[string]string{common.PinnedAnnotation: pinned}
	switch ac := child.Object.(type) {
	case *appsv1ac.DeploymentApplyConfiguration:
		ac.WithAnnotations(annotations)
	case *appsv1ac.StatefulSetApplyConfiguration:
		ac.WithAnnotations(annotations)
	}
	return child
}

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

// Pinned returns a Deployment or StatefulSet as a child whose pods are replaced only when its owner's settings change.
// An upgrade of the operator does not replace them.
func Pinned(declared runtime.ApplyConfiguration, settings any) ensure.Child {
	return ensure.Child{Object: declared, Pin: &ensure.Pin{Path: templatePath, Key: settings}}
}

// Held returns the child with its live pod template, for times when its pods must not be replaced. The pods stay pinned
// to the settings with which they were created. If the user reverts a change that was held back, no pod is replaced.
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

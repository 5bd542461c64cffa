// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/workload"
)

// ReadInstances reads the MicroServiceDeploys of a namespace and their Deployments. These objects belong to the cache
// and must not be changed.
func ReadInstances(ctx context.Context, reader client.Reader, ns *corev1.Namespace) (quota.Tenant, error) {
	out := quota.Tenant{Deployments: map[types.UID]*appsv1.Deployment{}}
	all, deployments := &customv1.MicroServiceDeployList{}, &appsv1.DeploymentList{}
	for _, list := range []client.ObjectList{all, deployments} {
		if err := reader.List(ctx, list, client.InNamespace(ns.Name), client.UnsafeDisableDeepCopy); err != nil {
			return out, fmt.Errorf("list %T: %w", list, err)
		}
	}
	for i := range all.Items {
		if all.Items[i].DeletionTimestamp == nil {
			out.Instances = append(out.Instances, secured(&all.Items[i], ns))
		}
	}
	for i := range deployments.Items {
		if owner := metav1.GetControllerOf(&deployments.Items[i]); owner != nil {
			out.Deployments[owner.UID] = &deployments.Items[i]
		}
	}
	return out, nil
}

// secured returns a MicroServiceDeploy with the security profile that its namespace enforces, as if the spec had set
// it.
func secured(m *customv1.MicroServiceDeploy, ns *corev1.Namespace) *customv1.MicroServiceDeploy {
	profile := workload.Profile(m.Spec.SecurityProfile, ns)
	if profile == m.Spec.SecurityProfile {
		return m
	}
	out := m.DeepCopy()
	out.Spec.SecurityProfile = profile
	return out
}

// ReadOverheads reads the overhead of pods of each RuntimeClass.
func ReadOverheads(ctx context.Context, reader client.Reader) (quota.Overheads, error) {
	classes := &nodev1.RuntimeClassList{}
	if err := reader.List(ctx, classes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list RuntimeClasses: %w", err)
	}
	out := quota.Overheads{}
	for _, class := range classes.Items {
		if class.Overhead != nil {
			out[class.Name] = class.Overhead.PodFixed
		}
	}
	return out, nil
}

// ReadQuotas reads the quotas that opcrew created in a namespace.
func ReadQuotas(ctx context.Context, reader client.Reader, ns *corev1.Namespace) (map[quota.Bound]*corev1.ResourceQuota, error) {
	out := map[quota.Bound]*corev1.ResourceQuota{}
	for _, b := range quota.Bounds {
		quota := &corev1.ResourceQuota{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: b.Name}, quota)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("read ResourceQuota: %w", err)
		case quota.Labels[common.OwnerLabel] == string(ns.UID):
			out[b] = quota
		}
	}
	return out, nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
)

// departInterval is the time between two checks whether the pods of deleted MicroServiceDeploys have ended.
const departInterval = time.Second

// departing reports whether pods of deleted MicroServiceDeploys still run in a namespace. A quota that is created while
// these pods run counts them, and might then reject the pods of new MicroServiceDeploys. Kubernetes retries rejected
// pods only after growing delays.
func departing(ctx context.Context, reader client.Reader, t quota.Tenant, namespace string) (bool, error) {
	sets, pods := &appsv1.ReplicaSetList{}, &corev1.PodList{}
	ours := client.MatchingLabels{names.NameLabel: names.AppName}
	for _, list := range []client.ObjectList{sets, pods} {
		if err := reader.List(ctx, list, client.InNamespace(namespace), ours, client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list %T: %w", list, err)
		}
	}
	deployments, present := map[types.UID]bool{}, map[types.UID]bool{}
	for _, m := range t.Instances {
		if d := t.Deployments[m.UID]; d != nil {
			deployments[d.UID] = true
		}
	}
	for i := range sets.Items {
		if owner := metav1.GetControllerOf(&sets.Items[i]); owner != nil && deployments[owner.UID] {
			present[sets.Items[i].UID] = true
		}
	}
	for i := range pods.Items {
		if owner := metav1.GetControllerOf(&pods.Items[i]); owner != nil && !present[owner.UID] {
			return true, nil
		}
	}
	return false, nil
}

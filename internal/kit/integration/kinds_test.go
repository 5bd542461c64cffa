// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// manyTypes returns one object of each type that operators create as children.
func manyTypes() []client.Object {
	return append(ownTypes(), &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &batchv1.Job{}, &batchv1.CronJob{},
		&autoscalingv2.HorizontalPodAutoscaler{}, &networkingv1.Ingress{}, &networkingv1.NetworkPolicy{},
		&policyv1.PodDisruptionBudget{}, &rbacv1.Role{}, &rbacv1.RoleBinding{}, &corev1.Secret{},
		&corev1.PersistentVolumeClaim{}, &corev1.Pod{})
}

// The API server sets many defaults in these children. If a default counted as drift, opcrew would write the child
// again and again.
func TestNoKindOfChildIsWrittenTwice(t *testing.T) {
	ns := env.Namespace(t)
	var applied *unstructured.Unstructured
	p := start(t, ns, setup{types: manyTypes(), intercept: interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			applied = object.(interface {
				DeepCopy() *unstructured.Unstructured
			}).DeepCopy()
			return c.Apply(ctx, object, opts...)
		},
	}})
	owner := newOwner(t, ns, "owner")
	for resource, child := range manyChildren(t, ns) {
		t.Run(resource, func(t *testing.T) {
			p.t = t
			ref := p.ensures(owner, child, ensure.Created, creation(resource)).Ref
			p.ensures(owner, child, ensure.Unchanged, free)

			object := newOf(t, ref)
			object.SetNamespace(ref.Namespace)
			object.SetName(ref.Name)
			// Controllers may set the status of some of these children in the meantime. A second apply must change
			// nothing else.
			eventually.True(t, eventually.Long, "applied again, "+ref.String()+" stays at its version", func() error {
				version := current(t, object).GetResourceVersion()
				again := applied.DeepCopy()
				err := env.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(again), client.FieldOwner("opcrew"), client.ForceOwnership)
				if err == nil && again.GetResourceVersion() != version {
					err = fmt.Errorf("it went from %s to %s", version, again.GetResourceVersion())
				}
				return err
			})
		})
	}
}

// manyChildren returns the children in testdata/children.yaml, one of each resource.
func manyChildren(t *testing.T, namespace string) map[string]ensure.Child {
	t.Helper()
	content, err := os.ReadFile("testdata/children.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]map[string]any{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(content), "%NS%", namespace)), &objects); err != nil {
		t.Fatal(err)
	}
	children := map[string]ensure.Child{}
	for resource, object := range objects {
		children[resource] = ensure.Child{Object: client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: object})}
	}
	return children
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// awaitReady waits until the given number of pods are ready, and checks that exactly these pods run the image of the
// spec.
func (s *shop) awaitReady(size int) *customv1.MicroServiceDeploy {
	s.Helper()
	reason := common.ReasonAllPodsReady
	if size == 0 {
		reason = common.ReasonScaledToZero
	}
	m := s.await(ready, "True "+reason)
	return s.expectServing(m, size, m.Spec.Image)
}

func (s *shop) expectServing(m *customv1.MicroServiceDeploy, size int, image string) *customv1.MicroServiceDeploy {
	s.Helper()
	if got := m.Status; int(got.Replicas) != size || int(got.ReadyReplicas) != size {
		s.Errorf("expected %d pods, all ready, got %+v", size, got)
	}
	if got := s.running(image); got != size {
		s.Errorf("Ready is True, and %d of %d pods run %s", got, size, image)
	}
	return m
}

func (s *shop) instance() client.MatchingLabels {
	return client.MatchingLabels{"app.kubernetes.io/name": "microservicedeploy", "app.kubernetes.io/instance": s.name}
}

// pods returns the pods of the MicroServiceDeploy that are not being deleted.
func (s *shop) pods() []corev1.Pod {
	s.Helper()
	list := &corev1.PodList{}
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns), s.instance()); err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// running returns the number of pods of the MicroServiceDeploy that run an image.
func (s *shop) running(image string) int {
	s.Helper()
	n := 0
	for _, pod := range s.pods() {
		if slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Image == image }) {
			n++
		}
	}
	return n
}

// all returns the kinds, names and UIDs of all children of the MicroServiceDeploy.
func (s *shop) all() map[string]types.UID {
	s.Helper()
	return s.objects(s.instance())
}

// objects returns the UIDs of the objects in the namespace with the given labels, by kind and name.
func (s *shop) objects(labels client.MatchingLabels) map[string]types.UID {
	s.Helper()
	out := map[string]types.UID{}
	for kind, list := range map[string]client.ObjectList{
		"Service": &corev1.ServiceList{}, "ServiceAccount": &corev1.ServiceAccountList{}, "Deployment": &appsv1.DeploymentList{},
		"ReplicaSet": &appsv1.ReplicaSetList{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{}, "Pod": &corev1.PodList{},
		"ConfigMap": &corev1.ConfigMapList{}, "Secret": &corev1.SecretList{}, "ResourceQuota": &corev1.ResourceQuotaList{},
		"HorizontalPodAutoscaler": &autoscalingv2.HorizontalPodAutoscalerList{}, "NetworkPolicy": &networkingv1.NetworkPolicyList{},
		"Ingress": &networkingv1.IngressList{},
	} {
		if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns), labels); err != nil {
			s.Fatal(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			out[kind+" "+object.GetName()] = object.GetUID()
			return nil
		})
	}
	return out
}

// configs returns the names of the MicroServiceDeploy's configurations.
func (s *shop) configs() []string {
	s.Helper()
	var out []string
	for name := range s.all() {
		if strings.Contains(name, "-config-") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (s *shop) delete() {
	s.Helper()
	s.remove(&customv1.MicroServiceDeploy{})
}

func (s *shop) awaitNothing() {
	s.Helper()
	operator.Until(s.T, "nothing of the object is left", func() error {
		if left := s.all(); len(left) > 0 {
			return fmt.Errorf("there is %v", left)
		}
		return eventually.Gone(env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, &customv1.MicroServiceDeploy{}), apierrors.IsNotFound)
	})
}

// scaleDeployment scales the Deployment as an autoscaler or another client would.
func (s *shop) scaleDeployment(replicas int32) {
	s.Helper()
	d := &appsv1.Deployment{}
	s.read(d)
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	if err := env.Client.SubResource("scale").Update(s.Context(), d, client.WithSubResourceBody(scale)); err != nil {
		s.Fatal(err)
	}
}

// kubectl runs kubectl as a user would.
func (s *shop) kubectl(args ...string) string {
	s.Helper()
	args = append([]string{"--kubeconfig", env.Kubeconfig, "--namespace", s.ns}, args...)
	out, err := exec.CommandContext(s.Context(), filepath.Join(env.Root, "bin", "kubectl"), args...).CombinedOutput()
	if err != nil {
		s.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

var someTime = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// placeholder is the value of spec.image in the manifest of the AppService tutorial, although it is not a valid image.
const placeholder = "just a image url"

// Builders of objects.

type option func(*appv1.AppService)

func newApp(size int32, options ...option) *appv1.AppService {
	a := &appv1.AppService{}
	a.Namespace, a.Name, a.UID, a.Generation = "shop", "web", "uid-of-web", 1
	a.Spec.Size, a.Spec.Image = &size, "nginx:1.26"
	for _, option := range options {
		option(a)
	}
	return a
}

func withPort(port common.Port) option {
	return func(a *appv1.AppService) { a.Spec.Ports = append(a.Spec.Ports, port) }
}

func withImage(image string) option { return func(a *appv1.AppService) { a.Spec.Image = image } }

// manifest reads an AppService from a manifest as a user wrote it.
func manifest(t *testing.T, file string) *appv1.AppService {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	a := &appv1.AppService{}
	if err := yaml.UnmarshalStrict(raw, a); err != nil {
		t.Fatal(err)
	}
	a.Namespace = "shop"
	return a
}

// Builders of facts.

// observed returns the facts about a Deployment with the given number of replicas, all of them ready.
func observed(replicas int32) facts {
	d := &appsv1.Deployment{}
	d.Namespace, d.Name, d.UID, d.Generation = "shop", "web", "uid-of-deployment", 3
	d.Annotations = map[string]string{common.PinnedAnnotation: "settings.template"}
	d.Spec.Replicas = &replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 3, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	f := facts{rollout: workload.Rollout{Deployment: d, Sets: []appsv1.ReplicaSet{{}}}}
	for i := range replicas {
		pod := corev1.Pod{}
		pod.Name = fmt.Sprint("web-", i)
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		f.rollout.Pods = append(f.rollout.Pods, pod)
	}
	return f
}

// Builders of outcomes.

// done returns an outcome in which the child of the given kind had the given result.
func done(kind string, action ensure.Action, message string) kit.Outcome {
	result := ensure.Result{Action: action, Message: message}
	result.Ref.Kind = kind
	return kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}, result}}
}

// unchanged is the outcome of a plan in which every child was as declared.
var unchanged = done("Service", ensure.Unchanged, "")

// reported returns the AppService with the status that a reconcile would report.
func reported(a *appv1.AppService, f facts, done kit.Outcome) *appv1.AppService {
	reportAt(a, f, done, someTime)
	return a
}

func conditionOf(a *appv1.AppService, kind string) string {
	c := meta.FindStatusCondition(a.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// pending adds the conditions that the CRD sets by default on a new AppService.
func pending(a *appv1.AppService) {
	for _, kind := range []string{appv1.AppServiceReady, appv1.AppServiceChildrenReady, appv1.AppServiceRolledOut, appv1.AppServiceAvailable} {
		a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionUnknown, Reason: common.ReasonPending, Message: "Waiting for the operator"})
	}
}

// same fails the test if two values differ. what describes the values in the failure message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}

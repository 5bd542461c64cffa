// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/internal/kinds/appservice"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
)

func TestAppService(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:       appservice.Kind(),
		Namespaced: true,
		Nodes:      3,
		Primary:    &appv1.AppService{},
		Others: []client.Object{
			&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}, &corev1.Pod{},
		},
		Uncounted: []string{"Pod", "ReplicaSet"},
		Truth:     appIsServed,
		Invariants: []faults.Invariant{
			{Name: "an application has one Deployment", Check: oneDeployment},
			{Name: "an application always has a ready pod", Check: servedThroughout},
		},
		Mask:      maskApp,
		Workloads: []faults.Workload{growing, replacing, serving},
	})
}

const app = `
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: web}
spec:
  size: 2
  image: nginx:1.26
  ports: [{port: 80, targetPort: 8080}]
`

// editApp returns a step in which a user changes the spec and waits until the AppService is ready again.
func editApp(name, spec string) faults.Step {
	return faults.Step{
		Name:  name,
		Do:    func(u *faults.User) { u.Patch("web", &appv1.AppService{}, `{"spec":`+spec+`}`) },
		Until: appReady,
	}
}

var createApp = faults.Step{
	Name:  "create an application of two pods",
	Do:    func(u *faults.User) { u.Apply(app) },
	Until: appReady,
}

// growing changes the number of replicas, which creates and deletes the PodDisruptionBudget.
var growing = faults.Workload{
	Name: "growing",
	Steps: []faults.Step{
		createApp,
		editApp("grow to three", `{"size":3}`),
		editApp("shrink to one", `{"size":1}`),
		editApp("grow to two", `{"size":2}`),
	},
}

// replacing changes the image several times, twice to an image that cannot run.
var replacing = faults.Workload{
	Name: "replacing",
	Steps: []faults.Step{
		createApp,
		editApp("change the image", `{"image":"nginx:1.27"}`),
		{
			Name:  "write no image",
			Do:    func(u *faults.User) { u.Patch("web", &appv1.AppService{}, `{"spec":{"image":"just a image url"}}`) },
			Until: appSays("InvalidImage"),
		},
		{
			Name: "write one that cannot be pulled",
			Do: func(u *faults.User) {
				u.Patch("web", &appv1.AppService{}, `{"spec":{"image":"`+testenv.MissingImage+`"}}`)
			},
			Until: appSays("PodsNotReady"),
		},
		editApp("correct it", `{"image":"nginx:1.28"}`),
	},
}

// serving changes the Service of the application, and another user changes and deletes objects of the operator.
var serving = faults.Workload{
	Name: "serving",
	Steps: []faults.Step{
		createApp,
		{
			Name:  "a user deletes the Service",
			Do:    func(u *faults.User) { u.Delete("web", &corev1.Service{}) },
			Until: appReady,
		},
		editApp("serve another port", `{"ports":[{"port":81,"targetPort":8080}]}`),
		editApp("serve none", `{"ports":null}`),
		editApp("serve two", `{"ports":[{"port":80,"targetPort":8080},{"port":81,"targetPort":8080}]}`),
	},
}

func appReady(v faults.View) error {
	a, err := appReportedFor(v, "True", "")
	if err != nil {
		return err
	}
	return appIsServed(v, a)
}

// appSays returns a condition that holds if Ready is False with the given reason. It does not require that
// previous pods still run, because a recreated application has none. The invariant servedThroughout checks previous
// pods.
func appSays(reason string) func(faults.View) error {
	return func(v faults.View) error {
		_, err := appReportedFor(v, "False", reason)
		return err
	}
}

// appReportedFor returns the AppService if it has reported its current spec with the given status of Ready, and, if
// reason is not empty, with that reason. Otherwise it returns an error.
func appReportedFor(v faults.View, status metav1.ConditionStatus, reason string) (*appv1.AppService, error) {
	a := &appv1.AppService{}
	if err := v.Get("web", a); err != nil {
		return nil, err
	}
	for _, c := range a.Status.Conditions {
		if c.Type == "Ready" && c.Status == status && (reason == "" || c.Reason == reason) && a.Status.ObservedGeneration == a.Generation {
			return a, nil
		}
	}
	return nil, fmt.Errorf("the status is %+v", a.Status)
}

// appIsServed checks that a ready AppService is truly ready. The desired number of pods must be ready with the desired
// image, and the Service must select them.
func appIsServed(v faults.View, object client.Object) error {
	a := object.(*appv1.AppService)
	pods := &appsv1.Deployment{}
	if err := v.Get(a.Name, pods); err != nil {
		return err
	}
	if n := servingPods(v, a.Spec.Image); n != int(a.Spec.Replicas()) || *pods.Spec.Replicas != a.Spec.Replicas() {
		return fmt.Errorf("%d of %d pods with image %s are ready", n, a.Spec.Replicas(), a.Spec.Image)
	}
	if len(a.Spec.Ports) == 0 {
		return v.Gone(a.Name, &corev1.Service{})
	}
	service := &corev1.Service{}
	if err := v.Get(a.Name, service); err != nil {
		return err
	}
	if len(service.Spec.Ports) != len(a.Spec.Ports) || service.Spec.Ports[0].Port != a.Spec.Ports[0].Port {
		return fmt.Errorf("the Service has ports %+v", service.Spec.Ports)
	}
	return nil
}

// servingPods counts the ready pods that run the image. If image is empty, it counts all ready pods.
func servingPods(v faults.View, image string) int {
	pods, n := &corev1.PodList{}, 0
	if v.List(pods) != nil {
		return 0
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil &&
				(image == "" || pod.Spec.Containers[0].Image == image) {
				n++
			}
		}
	}
	return n
}

func oneDeployment(_, after faults.View, _ faults.Event) error {
	if all := after.Objects("Deployment"); len(all) > 1 {
		return fmt.Errorf("there are two Deployments: %s and %s", all[0].GetName(), all[1].GetName())
	}
	return nil
}

// servedThroughout holds if the last ready pod of an application is never removed while the spec requests pods.
func servedThroughout(before, after faults.View, e faults.Event) error {
	if e.Key.Kind != "Pod" || servingPods(before, "") == 0 || servingPods(after, "") > 0 || !isWanted(after, e.Object) {
		return nil
	}
	return fmt.Errorf("the last ready pod is gone")
}

// isWanted reports whether a pod belongs to an application that exists and is not being deleted. A pod of a deleted
// application of the same name does not count.
func isWanted(v faults.View, pod metav1.Object) bool {
	a, pods, set := &appv1.AppService{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}
	owner := metav1.GetControllerOf(pod)
	return v.Get("web", a) == nil && a.DeletionTimestamp == nil && v.Get("web", pods) == nil && metav1.IsControlledBy(pods, a) &&
		owner != nil && v.Get(owner.Name, set) == nil && set.UID == owner.UID && metav1.IsControlledBy(set, pods)
}

// maskApp removes fields that differ between runs: fields that the scheduler and the simulated kubelet set in pods,
// fields that the API server allocates, and the revision number of the Deployment.
func maskApp(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case "Pod":
		unstructured.RemoveNestedField(object.Object, "spec")
		unstructured.RemoveNestedField(object.Object, "status")
	case "Service":
		unstructured.RemoveNestedField(object.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(object.Object, "spec", "clusterIPs")
	case "Deployment":
		unstructured.RemoveNestedField(object.Object, "status", "collisionCount")
		unstructured.RemoveNestedField(object.Object, "status", "conditions")
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
	case "ReplicaSet":
		if n, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas"); n == 0 {
			object.Object = nil // ignore the ReplicaSet of an earlier pod template
			return
		}
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
		unstructured.RemoveNestedField(object.Object, "status")
	}
}

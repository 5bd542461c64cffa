// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/faults"
)

func TestMicroServiceDeploy(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:       microservicedeploy.Kind(),
		Namespaced: true,
		Nodes:      3,
		Primary:    &customv1.MicroServiceDeploy{},
		Others: []client.Object{
			&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Service{}, &corev1.ServiceAccount{}, &corev1.ConfigMap{},
			&corev1.Secret{}, &corev1.ResourceQuota{}, &policyv1.PodDisruptionBudget{}, &autoscalingv2.HorizontalPodAutoscaler{},
			&networkingv1.NetworkPolicy{}, &networkingv1.Ingress{}, &corev1.Pod{},
		},
		// The instances of a namespace share a quota and a password, which the operator deletes with the last instance.
		// If a test deletes the last instance and recreates it at once, the operator may or may not delete them.
		Uncounted: []string{"ResourceQuota", "Secret opcrew-basic-auth", "Pod", "ReplicaSet"},
		Truth:     instanceServes,
		Invariants: []faults.Invariant{
			{Name: "an instance has one Deployment", Check: oneDeployment},
			{Name: "an instance always has a ready pod", Check: instanceServesThroughout},
			{Name: "a reported password never changes", Check: passwordStays},
			{Name: "a reported password is accepted", Check: passwordIsLetIn},
		},
		Mask:      maskInstance,
		Workloads: []faults.Workload{rollingInstance, switchingInstance, mendingInstance},
	})
}

const microservice = `
apiVersion: custom.ops/v1
kind: MicroServiceDeploy
metadata: {name: web}
spec:
  msName: web
  image: nginx:1.26
  replicas: 2
  config: LEVEL=1
  resourceRequirements: {requests: {cpu: 100m}}
`

var createInstance = faults.Step{
	Name:  "create an instance of two pods",
	Do:    func(u *faults.User) { u.Apply(microservice) },
	Until: instanceReady,
}

// editInstance returns a step in which a user changes the spec and waits until the instance is ready again.
func editInstance(name, spec string) faults.Step {
	return faults.Step{
		Name:  name,
		Do:    func(u *faults.User) { u.Patch("web", &customv1.MicroServiceDeploy{}, `{"spec":`+spec+`}`) },
		Until: instanceReady,
	}
}

// rollingInstance changes the number of replicas, the image and the configuration.
var rollingInstance = faults.Workload{
	Name: "rolling",
	Steps: []faults.Step{
		createInstance,
		editInstance("grow to three", `{"replicas":3}`),
		editInstance("change the image", `{"image":"nginx:1.27"}`),
		editInstance("change the configuration", `{"config":"LEVEL=2"}`),
		editInstance("shrink to one", `{"replicas":1}`),
	},
}

// switchingInstance enables and disables the optional features.
var switchingInstance = faults.Workload{
	Name: "switching",
	Steps: []faults.Step{
		createInstance,
		editInstance("turn autoscaling on", `{"autoscaling":true}`),
		editInstance("turn auth on", `{"needAuth":true}`),
		editInstance("unload it", `{"idle":true}`),
		editInstance("load it back", `{"idle":false}`),
		editInstance("turn both off", `{"autoscaling":false,"needAuth":false}`),
	},
}

// mendingInstance starts with an image that does not exist. Later, another user changes and deletes objects of the
// operator.
var mendingInstance = faults.Workload{
	Name: "mending",
	Steps: []faults.Step{
		{
			Name:  "create an instance of no image",
			Do:    func(u *faults.User) { u.Apply(strings.Replace(microservice, "nginx:1.26", "just a image url", 1)) },
			Until: func(v faults.View) error { _, err := instanceReportedFor(v, "False", "InvalidImage"); return err },
		},
		editInstance("correct it", `{"image":"nginx:1.26","baseDomain":"example.com","path":"v1"}`),
		{
			Name:  "a user deletes the Service",
			Do:    func(u *faults.User) { u.Delete("web", &corev1.Service{}) },
			Until: instanceReady,
		},
		{
			Name: "delete and recreate it",
			Do: func(u *faults.User) {
				u.Delete("web", &customv1.MicroServiceDeploy{})
				u.Apply(microservice)
			},
			Until: instanceReady,
		},
	},
}

func instanceReady(v faults.View) error {
	m, err := instanceReportedFor(v, "True", "")
	if err != nil {
		return err
	}
	if c := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployAutoscaled); c != nil && c.Reason == common.ReasonApplying {
		return errors.New("the autoscaler has not set its conditions yet")
	}
	return instanceServes(v, m)
}

// instanceReportedFor returns the MicroServiceDeploy if it has reported its current spec with the given status of
// Ready, and, if reason is not empty, with that reason. Otherwise it returns an error.
func instanceReportedFor(v faults.View, status metav1.ConditionStatus, reason string) (*customv1.MicroServiceDeploy, error) {
	m := &customv1.MicroServiceDeploy{}
	if err := v.Get("web", m); err != nil {
		return nil, err
	}
	for _, c := range m.Status.Conditions {
		if c.Type == "Ready" && c.Status == status && (reason == "" || c.Reason == reason) && m.Status.ObservedGeneration == m.Generation {
			return m, nil
		}
	}
	return nil, fmt.Errorf("the status is %+v", m.Status)
}

// instanceServes checks that a ready MicroServiceDeploy is truly ready. The desired number of pods must be ready with
// the desired image, and the Service for them must exist.
func instanceServes(v faults.View, object client.Object) error {
	m := object.(*customv1.MicroServiceDeploy)
	pods := &appsv1.Deployment{}
	for _, child := range []client.Object{pods, &corev1.Service{}, &corev1.ServiceAccount{}} {
		if err := v.Get(m.Name, child); err != nil {
			return err
		}
	}
	if m.Spec.NeedAuth {
		if err := v.Get("opcrew-basic-auth", &corev1.Secret{}); err != nil {
			return err
		}
	}
	want := *m.Spec.Replicas
	if m.Spec.Idle {
		want = 0
	}
	if n := servingPods(v, m.Spec.Image); n != int(want) || *pods.Spec.Replicas != want {
		return fmt.Errorf("%d of %d pods with image %s are ready", n, want, m.Spec.Image)
	}
	return nil
}

// instanceServesThroughout holds if the last ready pod of an instance is never removed while the spec requests pods.
// Pods of a deleted instance of the same name may be removed.
func instanceServesThroughout(before, after faults.View, e faults.Event) error {
	m, deployment := &customv1.MicroServiceDeploy{}, &appsv1.Deployment{}
	if e.Key.Kind != "Pod" || !sees(after, "web", m) || !sees(after, "web", deployment) || m.DeletionTimestamp != nil || *deployment.Spec.Replicas == 0 {
		return nil
	}
	if !metav1.IsControlledBy(deployment, m) || len(servingOf(before, deployment)) == 0 || len(servingOf(after, deployment)) > 0 {
		return nil
	}
	return errors.New("the last ready pod is gone")
}

// servingOf returns the ready pods of a Deployment. It leaves out the pods of a deleted Deployment of the same name. It
// cannot use creation times for this, because they are in whole seconds.
func servingOf(v faults.View, deployment *appsv1.Deployment) []corev1.Pod {
	pods, sets := &corev1.PodList{}, &appsv1.ReplicaSetList{}
	if v.List(pods) != nil || v.List(sets) != nil {
		return nil
	}
	its := func(set appsv1.ReplicaSet) bool { return metav1.IsControlledBy(&set, deployment) }
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool {
		of := func(set appsv1.ReplicaSet) bool { return its(set) && metav1.IsControlledBy(&pod, &set) }
		return !slices.ContainsFunc(sets.Items, of) || !workload.Ready(&pod)
	})
}

func sees(v faults.View, name string, object client.Object) bool { return v.Get(name, object) == nil }

// passwordStays holds if the operator never changes a password that it has reported to users.
func passwordStays(before, after faults.View, e faults.Event) error {
	old, now := &corev1.Secret{}, &corev1.Secret{}
	if e.Key.Kind != "Secret" || !credentialsReported(before) || !sees(before, "opcrew-basic-auth", old) || !sees(after, "opcrew-basic-auth", now) {
		return nil
	}
	if old.UID == now.UID && string(old.Data["password"]) != string(now.Data["password"]) {
		return errors.New("the operator changed the password")
	}
	return nil
}

// passwordIsLetIn holds if the service accepts the password that the operator has reported to users.
func passwordIsLetIn(before, after faults.View, e faults.Event) error {
	secret := &corev1.Secret{}
	if e.Key.Kind != "Secret" || !credentialsReported(before) || !sees(after, "opcrew-basic-auth", secret) {
		return nil
	}
	first, _, _ := strings.Cut(string(secret.Data["htpasswd"]), "\n")
	if _, hash, _ := strings.Cut(first, ":"); bcrypt.CompareHashAndPassword([]byte(hash), secret.Data["password"]) != nil {
		return errors.New("the hashes in the Secret do not belong to the password")
	}
	return nil
}

// credentialsReported reports whether the status of the MicroServiceDeploy says that credentials exist.
func credentialsReported(v faults.View) bool {
	m := &customv1.MicroServiceDeploy{}
	return sees(v, "web", m) && meta.IsStatusConditionTrue(m.Status.Conditions, customv1.MicroServiceDeployAuthReady)
}

// maskInstance removes what maskApp removes, and further values that differ between runs: credentials, the status of an
// autoscaler without metrics, names of ReplicaSets, and revision numbers, since the operator may have missed a
// revision.
func maskInstance(object *unstructured.Unstructured) {
	maskApp(object)
	remove := func(fields ...string) { unstructured.RemoveNestedField(object.Object, fields...) }
	switch object.GetKind() {
	case "MicroServiceDeploy":
		remove("status", "revision")
		remove("status", "revisions")
	case "Deployment":
		remove("metadata", "annotations", "opcrew.io/pinned")
		remove("spec", "template", "metadata", "annotations")
	case "ReplicaSet":
		object.SetName("the set that runs")
		remove("metadata", "labels")
		remove("spec", "selector")
		remove("spec", "template", "metadata")
	case "Pod":
		object.SetGenerateName("web-")
		remove("metadata", "annotations")
		remove("metadata", "labels", "pod-template-hash")
		remove("metadata", "ownerReferences")
	case "Secret":
		remove("data")
	case "HorizontalPodAutoscaler", "Ingress", "ResourceQuota":
		remove("status")
	}
	switch object.GetName() {
	case "opcrew-microservices": // the instances of a namespace share this object
		remove("metadata", "ownerReferences")
		remove("metadata", "labels", "opcrew.io/owner")
	// If a test deletes the last instance and recreates it at once without authentication, this Secret may remain.
	case "opcrew-basic-auth":
		object.Object = map[string]any{}
	}
}

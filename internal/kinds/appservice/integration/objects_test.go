// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const (
	ready    = appv1.AppServiceReady
	rolled   = appv1.AppServiceRolledOut
	children = appv1.AppServiceChildrenReady

	// placeholder is the value of spec.image in the manifest of the AppService tutorial, although it is not a valid
	// image.
	placeholder = "just a image url"
)

type option func(*appv1.AppService)

func withImage(image string) option { return func(a *appv1.AppService) { a.Spec.Image = image } }

func withSize(size int32) option { return func(a *appv1.AppService) { a.Spec.Size = &size } }

func withPorts(ports ...common.Port) option {
	return func(a *appv1.AppService) { a.Spec.Ports = ports }
}

func annotated(key, value string) option {
	return func(a *appv1.AppService) { metav1.SetMetaDataAnnotation(&a.ObjectMeta, key, value) }
}

// http is a Service port without a nodePort, so it is reachable only inside the cluster.
var http = common.Port{Port: 80, TargetPort: "8080"}

func atNodes(port int32) common.Port { return common.Port{Port: 80, NodePort: &port} }

// shop is the environment of a test: a namespace, nodes, the operator, and the name of the object under test.
type shop struct {
	*testing.T
	ns, name string
	operator *operator.Process
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOf(t, env.Operator)
}

func newShopOf(t *testing.T, start func(*testing.T) *operator.Process) *shop {
	t.Helper()
	shops++ // new names for each test, because kwok does not simulate pods on a node that is recreated under its old name
	env.Nodes(t, 2, testenv.NodeSpec{Prefix: fmt.Sprint("shop", shops)})
	s := &shop{T: t, ns: env.Namespace(t), name: "web", operator: start(t)}
	env.Clear(t, &appv1.AppServiceList{}, s.ns)
	return s
}

var shops int

// named returns the same shop for an object with another name.
func (s *shop) named(t *testing.T, name string) *shop {
	return &shop{T: t, ns: s.ns, name: name, operator: s.operator}
}

func (s *shop) create(size int32, options ...option) {
	s.Helper()
	a := &appv1.AppService{}
	a.Namespace, a.Name, a.Spec.Image = s.ns, s.name, "nginx:1.26"
	withSize(size)(a)
	for _, option := range options {
		option(a)
	}
	if err := env.Client.Create(s.Context(), a); err != nil {
		s.Fatal(err)
	}
}

// edit changes the object as a user would.
func (s *shop) edit(options ...option) {
	s.Helper()
	a := s.get()
	before := a.DeepCopy()
	for _, option := range options {
		option(a)
	}
	if err := env.Client.Patch(s.Context(), a, client.MergeFrom(before), client.FieldOwner("kubectl-edit")); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) scale(size int32) {
	s.Helper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: size}}
	if err := env.Client.SubResource("scale").Update(s.Context(), s.get(), client.WithSubResourceBody(scale)); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) get() *appv1.AppService {
	s.Helper()
	a := &appv1.AppService{}
	s.read(a)
	return a
}

// read reads the AppService's child of the type of object into object.
func (s *shop) read(object client.Object) {
	s.Helper()
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, object); err != nil {
		s.Fatalf("reading %T %s: %v", object, s.name, err)
	}
}

// there reports whether the AppService has a child of the type of object.
func (s *shop) there(object client.Object) bool {
	s.Helper()
	err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, object)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return err == nil
}

// patch applies a merge patch to an object, as another client would.
func (s *shop) patch(object client.Object, merge string) {
	s.Helper()
	s.read(object)
	if err := env.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner("another")); err != nil {
		s.Fatal(err)
	}
}

// await waits until the status describes the current spec, the given condition has the given status and reason, and its
// message contains the given words.
func (s *shop) await(kind, statusReason string, words ...string) *appv1.AppService {
	s.Helper()
	var a *appv1.AppService
	operator.Until(s.T, fmt.Sprintf("%s is %s and says %q", kind, statusReason, words), func() error {
		a = s.get()
		c := meta.FindStatusCondition(a.Status.Conditions, kind)
		switch {
		case c == nil:
			return errors.New("there is no such condition")
		case a.Status.ObservedGeneration != a.Generation:
			return fmt.Errorf("the status is about generation %d, the spec is %d", a.Status.ObservedGeneration, a.Generation)
		case fmt.Sprintf("%s %s", c.Status, c.Reason) != statusReason:
			return fmt.Errorf("it is %s %s: %s", c.Status, c.Reason, c.Message)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				return fmt.Errorf("it says %q", c.Message)
			}
		}
		return nil
	})
	return a
}

// awaitReady waits until the given number of pods are ready, and checks that exactly these pods run the image of the
// object.
func (s *shop) awaitReady(size int) *appv1.AppService {
	s.Helper()
	reason := common.ReasonAllPodsReady
	if size == 0 {
		reason = common.ReasonScaledToZero
	}
	a := s.await(ready, "True "+reason)
	if got := a.Status; int(got.Replicas) != size || int(got.ReadyReplicas) != size {
		s.Errorf("expected %d pods, all ready, got %+v", size, got)
	}
	if got := s.running(a.Spec.Image); got != size {
		s.Errorf("Ready is True, and %d of %d pods run %s", got, size, a.Spec.Image)
	}
	return a
}

// recovers waits until Ready is True and exactly the given number of pods run. It retries, because after a change that
// the user did not make, the status may be briefly outdated.
func (s *shop) recovers(size int) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("Ready is True and %d pods run", size), func() error {
		a := s.get()
		if n := s.running(a.Spec.Image); n != size || int(a.Status.ReadyReplicas) != size || !meta.IsStatusConditionTrue(a.Status.Conditions, ready) {
			return fmt.Errorf("%d run and the status is %+v", n, a.Status)
		}
		return nil
	})
}

// running returns the number of pods of the object that run an image and are not being deleted.
func (s *shop) running(image string) int {
	s.Helper()
	pods, n := &corev1.PodList{}, 0
	if err := env.Client.List(s.Context(), pods, client.InNamespace(s.ns), client.MatchingLabels{"app": s.name}); err != nil {
		s.Fatal(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Image == image }) {
			n++
		}
	}
	return n
}

// all returns the kinds, names and UIDs of all children of the object.
func (s *shop) all() map[string]types.UID {
	s.Helper()
	out := map[string]types.UID{}
	for kind, list := range map[string]client.ObjectList{
		"Service": &corev1.ServiceList{}, "Deployment": &appsv1.DeploymentList{}, "ReplicaSet": &appsv1.ReplicaSetList{},
		"PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{}, "Pod": &corev1.PodList{},
	} {
		if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns), client.MatchingLabels{"app": s.name}); err != nil {
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

func (s *shop) delete() {
	s.Helper()
	if err := env.Client.Delete(s.Context(), s.get()); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) awaitNothing() {
	s.Helper()
	operator.Until(s.T, "nothing of the object is left", func() error {
		if left := s.all(); len(left) > 0 {
			return fmt.Errorf("there is %v", left)
		}
		return eventually.Gone(env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, &appv1.AppService{}), apierrors.IsNotFound)
	})
}

// childWrites returns the operator's writes except writes of the status.
func childWrites(calls testenv.Calls) testenv.Calls {
	return calls.Writes().Where(func(c testenv.Call) bool { return c.Resource != "appservices" })
}

func keyOf(object client.Object) client.ObjectKey { return client.ObjectKeyFromObject(object) }

func differs(want, got any) error {
	if want != got {
		return fmt.Errorf("expected %v, got %v", want, got)
	}
	return nil
}

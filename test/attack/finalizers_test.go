// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

// finalizerAttacks returns attacks that remove finalizers from objects that opcrew must clean up after: objects with
// pods in another namespace, and stores.
func finalizerAttacks() []attack {
	var out []attack
	for kind, manifest := range map[string]string{
		"an EtcdCluster": etcdWith(""), "a Redis cluster": redisPod("persistentSpec: {enabled: false}"), "a Diva": system("", ""),
	} {
		name := map[string]string{"an EtcdCluster": "store", "a Redis cluster": "cache", "a Diva": "ops"}[kind]
		out = append(out, attack{
			name: kind + " that is deleted without its finalizers", source: "OWASP K03", needs: ownership,
			before: func(w *world) { taken(inOther(manifest, name, name))(w); w.settle() },
			act:    func(w *world) error { return w.tearAway(manifest) }, harm: changedOther,
			control: func(w *world) {
				if err := w.admin.DeleteAllOf(w.Context(), &corev1.Service{}, client.InNamespace(w.other)); err != nil {
					w.Fatal(err)
				}
			},
		})
	}
	return append(out, attack{
		name: "an Activity that is deleted without its finalizer", source: "OWASP K03, K04", needs: cleanup,
		act: (*world).leaveRun, harm: leftovers, control: func(w *world) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
			pod.Namespace, pod.GenerateName = run.Namespace, "left-"
			pod.Annotations = map[string]string{run.ActivityAnnotation: w.ns + "/run"}
			w.create(pod)
		},
	})
}

// tearAway creates an object, deletes it and removes its finalizers, so that opcrew cannot clean up and the children
// remain. It does so twice, and then creates the object a third time and keeps it.
func (w *world) tearAway(manifest string) error {
	for range 2 {
		if err := w.apply(manifest); err != nil {
			return err
		}
		w.awaitReport()
		if err := w.strip(metav1.DeletePropagationOrphan); err != nil {
			return err
		}
	}
	return w.apply(manifest)
}

// strip deletes the tenant's object and removes all its finalizers, including the finalizers of the garbage collector.
func (w *world) strip(how metav1.DeletionPropagation) error {
	if err := w.tenant.Delete(w.Context(), w.subject, client.PropagationPolicy(how)); err != nil {
		return err
	}
	var refused error
	w.until("the object is gone", func() error {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		switch err := w.tenant.Patch(w.Context(), w.subject.DeepCopy(), patch); {
		case client.IgnoreNotFound(err) != nil:
			refused = err
			return nil
		case err == nil:
			return errors.New("the object exists")
		}
		return nil
	})
	return refused
}

// lists returns an empty list of each type of object that opcrew creates for stores.
func lists() []client.ObjectList {
	return []client.ObjectList{
		&corev1.PodList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}, &corev1.ServiceList{}, &corev1.PersistentVolumeClaimList{}, &appsv1.DeploymentList{}, &appsv1.StatefulSetList{},
	}
}

// belongings returns the objects of the other tenant. The value of each object has its UID, its generation and the time
// of its deletion.
func (w *world) belongings() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, list := range lists() {
		if err := w.admin.List(w.Context(), list, client.InNamespace(w.other)); err != nil {
			w.Fatal(err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error { // the function returns no error
			object := item.(client.Object)
			out[fmt.Sprintf("%T %s", object, object.GetName())] = fmt.Sprint(object.GetUID(), object.GetGeneration(), object.GetDeletionTimestamp())
			return nil
		})
	}
	return out
}

// settle waits until the objects of the other tenant no longer change, and stores them in w.seen.
func (w *world) settle() {
	w.Helper()
	since := time.Now()
	w.until("the objects of the other tenant no longer change", func() error {
		if now := w.belongings(); !maps.Equal(now, w.seen) {
			w.seen, since = now, time.Now()
		}
		if len(w.seen) < 3 || time.Since(since) < watched {
			return fmt.Errorf("they have been the same for %s", time.Since(since))
		}
		return nil
	})
}

// changedOther reports harm if an object that the other tenant had before the attack has changed.
func changedOther(w *world) string {
	w.Helper()
	now := w.belongings()
	for what, was := range w.seen {
		if now[what] != was {
			return fmt.Sprintf("%s of the other tenant was %s and is %q", what, was, now[what])
		}
	}
	return ""
}

// leaveRun starts an Activity in the tenant's namespace as an administrator. Then it deletes the Activity and removes
// its finalizer as the tenant.
func (w *world) leaveRun() error {
	w.trustsPolicies()
	host := &corev1.Node{}
	host.Name = "host-of-" + w.ns
	w.create(host)
	w.subject = w.has(strings.Replace(runOn(""), "host: node1", "host: "+host.Name, 1))
	w.until("the run has a pod", func() error {
		if leftovers(w) == "" {
			ready, _ := w.ready()
			return fmt.Errorf("there is no pod; Ready is %s %s: %s", ready.Status, ready.Reason, ready.Message)
		}
		return nil
	})
	if err := w.strip(metav1.DeletePropagationBackground); err != nil {
		return err
	}
	w.until("nothing is left of the run", func() error {
		if left := leftovers(w); left != "" {
			return errors.New(left)
		}
		return nil
	})
	return w.apply(app("size: 1")) // the attack ends when opcrew reports on this object
}

// trustsPolicies waits until opcrew trusts the recorded requesters of new Activities. opcrew trusts a record only if
// the admission policies are older than the Activity.
func (w *world) trustsPolicies() {
	w.Helper()
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: "opcrew-activity-rights"}, binding); err != nil {
		w.Fatal(err)
	}
	w.until("the policies have been in force for a while", func() error {
		if age := time.Since(binding.CreationTimestamp.Time); age < 12*time.Second {
			return fmt.Errorf("for %s", age)
		}
		return nil
	})
}

// leftovers reports harm if pods or Secrets of the tenant's Activities exist in the namespace in which Activities run.
func leftovers(w *world) string {
	w.Helper()
	for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.SecretList{}} {
		if err := w.admin.List(w.Context(), list, client.InNamespace(run.Namespace)); err != nil {
			w.Fatal(err)
		}
		left := ""
		_ = meta.EachListItem(list, func(item runtime.Object) error { // the function returns no error
			if object := item.(client.Object); strings.HasPrefix(object.GetAnnotations()[run.ActivityAnnotation], w.ns+"/") {
				left = fmt.Sprintf("%T %s is left in %s, with finalizers %v", object, object.GetName(), run.Namespace, object.GetFinalizers())
			}
			return nil
		})
		if left != "" {
			return left
		}
	}
	return ""
}

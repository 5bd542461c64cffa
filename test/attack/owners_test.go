// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownerAttacks returns attacks that use owner references and the garbage collector to delete or change objects of other
// users.
func ownerAttacks() []attack {
	return []attack{
		{name: "a UID that an object of others names as its owner", source: "OWASP K03", needs: ownership,
			before:   func(w *world) { w.has(theirs) },
			manifest: strings.Replace(app("size: 1"), "name: web}", "name: web, uid: of-another}", 1), stops: &report{"NameTaken", []string{"web"}},
			harm: changed("theirs:1"), control: func(w *world) { w.reimage("web", "mallory:1") }},
		{name: "a deleted object that names an object of others as its owner", source: "OWASP K03", needs: ownership,
			before: func(w *world) { w.has(theirs) }, act: (*world).createBelowTheirs, harm: changed("theirs:1"),
			control: func(w *world) { w.reimage("web", "mallory:1") }},
		{name: "an object of others that looks like a child", source: "OWASP K03", needs: ownership,
			act: (*world).pruneBesideTheirs, harm: lost, control: func(w *world) { w.hasService("theirs", nil); w.loses("theirs") }},
		{name: "an object that is deleted without its children, beside an object of others", source: "OWASP K03", needs: ownership,
			act: (*world).deleteBesideTheirs, harm: lost, control: func(w *world) { w.hasService("theirs", nil); w.loses("theirs") }},
	}
}

// createBelowTheirs creates two objects that name the Deployment of another user as their owner. It deletes one of
// them, and keeps the other one so that opcrew reports its state.
func (w *world) createBelowTheirs() error {
	above := &appsv1.Deployment{}
	if err := w.admin.Get(w.Context(), client.ObjectKey{Namespace: w.ns, Name: "web"}, above); err != nil {
		return err
	}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: above.UID, Controller: new(true), BlockOwnerDeletion: new(true)}
	for _, name := range []string{"stays", "goes"} {
		w.subject = w.parse(strings.Replace(app("size: 1"), "name: web}", "name: "+name+"}", 1))
		w.subject.SetOwnerReferences([]metav1.OwnerReference{owner})
		if err := w.tenant.Create(w.Context(), w.subject); err != nil {
			return err
		}
		w.awaitReport()
	}
	err := w.tenant.Delete(w.Context(), w.subject, client.PropagationPolicy(metav1.DeletePropagationForeground))
	w.subject.SetName("stays")
	return err
}

// pruneBesideTheirs makes opcrew delete a child of the tenant's object, while another user has a Service that has the
// labels of a child and names the tenant's object as an owner.
func (w *world) pruneBesideTheirs() error {
	if err := w.apply(app("size: 1")); err != nil {
		return err
	}
	w.until("opcrew creates the Service", func() error { return w.read(&corev1.Service{}, "web") })
	w.hasService("theirs", w.subject)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"ports":null}}`))
	if err := w.tenant.Patch(w.Context(), w.subject, patch); err != nil {
		return err
	}
	w.until("opcrew deletes the Service", func() error { return w.isGone(&corev1.Service{}, "web") })
	return nil
}

// deleteBesideTheirs deletes the tenant's object and orphans its children, while another user has a Service with the
// labels of a child. Then the tenant creates the object again under the same name, so that it has a new UID.
func (w *world) deleteBesideTheirs() error {
	if err := w.apply(app("size: 1")); err != nil {
		return err
	}
	w.until("opcrew creates the Service", func() error { return w.read(&corev1.Service{}, "web") })
	w.hasService("theirs", nil)
	if err := w.tenant.Delete(w.Context(), w.subject, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		return err
	}
	w.until("the object is gone", func() error {
		gone := &unstructured.Unstructured{}
		gone.SetGroupVersionKind(w.subject.GroupVersionKind())
		return w.isGone(gone, "web")
	})
	return w.apply(app("size: 1"))
}

// hasService creates a Service of another user with the labels of opcrew's children. If owner is not nil, the Service
// names it as an owner, but not as its controller.
func (w *world) hasService(name string, owner client.Object) {
	w.Helper()
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	service.Namespace, service.Name, service.Labels = w.ns, name, map[string]string{"app.kubernetes.io/managed-by": "opcrew"}
	if owner != nil {
		gvk := owner.GetObjectKind().GroupVersionKind()
		service.Labels["opcrew.io/owner"] = string(owner.GetUID())
		service.OwnerReferences = []metav1.OwnerReference{{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID()}}
	}
	w.create(service)
}

// lost reports harm if the Service named theirs, which another user created, is deleted.
func lost(w *world) string {
	service := &corev1.Service{}
	if err := w.read(service, "theirs"); err != nil || service.DeletionTimestamp != nil {
		return fmt.Sprintf("the Service of another user is deleted: %v", err)
	}
	return ""
}

// loses deletes a Service as an administrator.
func (w *world) loses(name string) {
	w.Helper()
	service := &corev1.Service{}
	service.Namespace, service.Name = w.ns, name
	if err := w.admin.Delete(w.Context(), service); err != nil {
		w.Fatal(err)
	}
}

// read reads an object in the tenant's namespace.
func (w *world) read(object client.Object, name string) error {
	return w.admin.Get(w.Context(), client.ObjectKey{Namespace: w.ns, Name: name}, object)
}

// isGone returns an error while an object exists in the tenant's namespace.
func (w *world) isGone(object client.Object, name string) error {
	err := w.read(object, name)
	if err == nil {
		return errors.New(name + " exists")
	}
	return client.IgnoreNotFound(err)
}

// awaitReport waits until the operator has reported a status for the tenant's object.
func (w *world) awaitReport() {
	w.Helper()
	w.until("the operator reports the object", func() error {
		ready, err := w.ready()
		if err == nil && ready.Reason == "Pending" {
			err = errors.New("the operator has not reported yet")
		}
		return err
	})
}

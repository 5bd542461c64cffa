// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// tenantLabel is the label of all namespaces of tenants.
const tenantLabel = "example.com/tenant"

// world is the environment of one attack: the namespace of the attacking tenant, and the namespace of another tenant.
type world struct {
	*testing.T
	cluster *cluster
	// ns is the namespace of the attacking tenant. other is the namespace of the other tenant.
	ns, other string
	// tenant is a client with the roles of opcrew's users in ns. admin is a client with all rights.
	tenant, admin client.Client
	// subject is the object that the tenant has created.
	subject *unstructured.Unstructured
	// key is a private key that the tenant may not read.
	key string
	// seen is what the other tenant had before the attack.
	seen map[string]string
}

// world creates both namespaces, and waits until the tenant has the rights of its roles. It does not delete the
// namespaces at the end of an attack, because the server refuses writes to a namespace that is being deleted.
func (c *cluster) world(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, cluster: c, admin: c.env.Client}
	w.ns, w.other = w.namespace("tenant-"), w.namespace("another-")
	w.tenant = c.env.ClientFor(t, c.env.TokenConfig(t, w.ns, "mallory"))
	for _, role := range c.roles {
		w.bind(role)
	}
	for _, role := range c.roles {
		w.until("the tenant has role "+role, func() error { return w.grants(role) })
	}
	return w
}

func (w *world) namespace(prefix string) string {
	w.Helper()
	ns := &corev1.Namespace{}
	ns.GenerateName, ns.Labels = prefix, map[string]string{tenantLabel: "yes"}
	w.create(ns)
	return ns.Name
}

// bind gives the tenant a ClusterRole in the tenant's own namespace.
func (w *world) bind(role string) {
	w.Helper()
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.ns, Name: "mallory"}},
	}
	binding.Namespace, binding.Name = w.ns, role
	w.create(binding)
}

// grants returns an error until the API server lets the tenant use the first right of a ClusterRole. The API server
// reads roles and bindings from a cache, so a new binding has no effect at first.
func (w *world) grants(name string) error {
	role := &rbacv1.ClusterRole{}
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: name}, role); err != nil {
		return err
	}
	rule := role.Rules[0]
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + w.ns + ":mallory",
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: w.ns, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
		},
	}}
	if err := w.admin.Create(w.Context(), review); err != nil {
		return err
	}
	if !review.Status.Allowed {
		return errors.New("the API server does not allow it yet")
	}
	return nil
}

// create creates an object as an administrator.
func (w *world) create(object client.Object) {
	w.Helper()
	if err := w.admin.Create(w.Context(), object); err != nil {
		w.Fatalf("creating %T %s: %v", object, object.GetName(), err)
	}
}

// has creates the object in a manifest as an administrator.
func (w *world) has(manifest string) *unstructured.Unstructured {
	w.Helper()
	object := w.parse(manifest)
	w.create(object)
	return object
}

// parse reads an object from a manifest. It replaces NAMESPACE and OTHER by the two namespaces.
func (w *world) parse(manifest string) *unstructured.Unstructured {
	w.Helper()
	manifest = strings.NewReplacer("NAMESPACE", w.ns, "OTHER", w.other).Replace(manifest)
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	object := &unstructured.Unstructured{}
	if err == nil {
		err = json.Unmarshal(raw, &object.Object)
	}
	if err != nil {
		w.Fatalf("reading the manifest: %v\n%s", err, manifest)
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(w.ns)
	}
	return object
}

// apply creates the object in a manifest as the tenant.
func (w *world) apply(manifest string, options ...client.CreateOption) error {
	w.subject = w.parse(manifest)
	return w.tenant.Create(w.Context(), w.subject, options...)
}

// ready returns the condition Ready of the tenant's object. If the object has no condition Ready, it returns the last
// condition.
func (w *world) ready() (metav1.Condition, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(w.subject.GroupVersionKind())
	if err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(w.subject), object); err != nil {
		return metav1.Condition{}, err
	}
	var status struct{ Conditions []metav1.Condition }
	content, _, _ := unstructured.NestedMap(object.Object, "status")
	raw, err := json.Marshal(content)
	if err == nil {
		err = json.Unmarshal(raw, &status)
	}
	for _, c := range status.Conditions {
		if c.Type == "Ready" {
			return c, err
		}
	}
	return metav1.Condition{Reason: "Pending"}, err
}

// status returns the whole status of the tenant's object as text.
func (w *world) status() string {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(w.subject.GroupVersionKind())
	if err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(w.subject), object); err != nil {
		return ""
	}
	return fmt.Sprint(object.Object["status"])
}

// pause waits between two checks.
func (w *world) pause() {
	select {
	case <-w.Context().Done():
	case <-time.After(100 * time.Millisecond):
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// TenantRecord is the annotation value with which the API server records a tenant as the requester of an object.
const TenantRecord = `{"username":"carol","groups":["system:authenticated"]}`

const tenantName = "carol"

// Tenant is a user who may edit the objects of the kind in one namespace. She has no other rights until a test grants
// them. Her requests go through the embedded client.
type Tenant struct {
	client.Client

	t     *testing.T
	suite *Suite
	ns    string
}

// Tenant returns the tenant of a namespace, once her role and the admission policies are in force. To check this, it
// sends trial, a valid object of the kind, in dry runs.
func (s *Suite) Tenant(t *testing.T, namespace string, trial client.Object) *Tenant {
	t.Helper()
	kind := s.kinds[0].Name
	s.Apply(t, "config/users/"+kind+".yaml")
	c := &Tenant{Client: s.ClientFor(t, s.ConfigAs(tenantName)), t: t, suite: s, ns: namespace}
	c.Bind("ClusterRole", "opcrew-"+kind+"-editor")
	Until(t, "the policies and the tenant's role are in force", func() error {
		return recorded(t, c, trial, func(record string) bool { return record == TenantRecord })
	})
	return c
}

// recorded creates an object like trial in a dry run. It calls matches with the requester that the API server recorded
// in the object ("" if there is none), and returns an error if matches returns false.
func recorded(t *testing.T, c client.Client, trial client.Object, matches func(record string) bool) error {
	object := trial.DeepCopyObject().(client.Object)
	object.SetName("")
	object.SetGenerateName("trial-")
	if err := c.Create(t.Context(), object, client.DryRunAll); err != nil {
		return err
	}
	if record := object.GetAnnotations()[common.RequesterAnnotation]; !matches(record) {
		return fmt.Errorf("the record is %q", record)
	}
	return nil
}

// As returns the client of a tenant, or the administrator's client if c is nil.
func (s *Suite) As(c *Tenant) client.Client {
	if c == nil {
		return s.Client
	}
	return c
}

// Bind gives the tenant a role in her namespace.
func (c *Tenant) Bind(kind, role string) {
	c.t.Helper()
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: tenantName}},
	}
	binding.Namespace, binding.GenerateName = c.ns, "carol-"
	c.create(binding)
}

// Grant gives the tenant a right to one object, or to all objects of the resource if name is empty. It waits until the
// right is in force.
func (c *Tenant) Grant(verb, group, resource, name string) {
	c.t.Helper()
	rule := rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}}
	if name != "" {
		rule.ResourceNames = []string{name}
	}
	if resource == "priorityclasses" || resource == "runtimeclasses" {
		c.grantInCluster(rule)
	} else {
		role := &rbacv1.Role{Rules: []rbacv1.PolicyRule{rule}}
		role.Namespace, role.GenerateName = c.ns, "grant-"
		c.create(role)
		c.Bind("Role", role.Name)
	}
	c.awaitRight(authorizationv1.ResourceAttributes{Namespace: c.ns, Verb: verb, Group: group, Resource: resource, Name: name})
}

func (c *Tenant) grantInCluster(rule rbacv1.PolicyRule) {
	c.t.Helper()
	role := &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{rule}}
	role.GenerateName = "grant-"
	c.create(role)
	binding := &rbacv1.ClusterRoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: tenantName}},
	}
	binding.GenerateName = "carol-"
	c.create(binding)
}

func (c *Tenant) awaitRight(right authorizationv1.ResourceAttributes) {
	c.t.Helper()
	Until(c.t, "the right is in force", func() error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: tenantName, ResourceAttributes: &right}}
		if err := c.suite.Client.Create(c.t.Context(), review); err != nil || !review.Status.Allowed {
			return fmt.Errorf("carol may not yet %s %s %s: %w", right.Verb, right.Resource, right.Name, err)
		}
		return nil
	})
}

// MakeSecret creates a Secret in the tenant's namespace as an administrator. The tenant has no right to read the
// Secret.
func (c *Tenant) MakeSecret(name string) {
	c.t.Helper()
	secret := &corev1.Secret{StringData: map[string]string{"token": "secret"}}
	secret.Namespace, secret.Name = c.ns, name
	c.create(secret)
}

// create creates an object as an administrator.
func (c *Tenant) create(object client.Object) {
	c.t.Helper()
	if err := c.suite.Client.Create(c.t.Context(), object); err != nil {
		c.t.Fatal(err)
	}
}

// MayNot returns two parts of the message with which opcrew reports that the tenant may not read a Secret: the missing
// right, and the command that grants the right.
func (c *Tenant) MayNot(secret string) []string {
	return []string{
		"carol may not get secrets " + secret,
		"kubectl create role get-" + secret + " -n " + c.ns + " --verb=get --resource=secrets --resource-name=" + secret,
	}
}

// AwaitRefusal waits until the API server refuses, in a dry run, an object that the tenant creates, because she lacks
// the given right. An example of a right is "get secrets bank".
func (c *Tenant) AwaitRefusal(right string, object client.Object) {
	c.t.Helper()
	Until(c.t, "the API server refuses a tenant who may not "+right, func() error {
		if err := c.try(object); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "carol may not "+right) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}

// AwaitAcceptance waits until the API server accepts, in a dry run, an object that the tenant creates.
func (c *Tenant) AwaitAcceptance(object client.Object) {
	c.t.Helper()
	Until(c.t, "the API server accepts what the tenant may name", func() error { return c.try(object) })
}

func (c *Tenant) try(object client.Object) error {
	return c.Create(c.t.Context(), object.DeepCopyObject().(client.Object), client.DryRunAll)
}

// ReadsSecret reports whether a container of the pod has an environment variable whose value comes from the Secret.
func ReadsSecret(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
			return e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil && e.ValueFrom.SecretKeyRef.Name == name
		})
	})
}

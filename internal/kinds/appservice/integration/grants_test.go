// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/operator"
)

// bind gives the test user carol a role in the namespace of the shop.
func (s *shop) bind(kind, role string) {
	s.Helper()
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "carol"}},
	}
	binding.Namespace, binding.GenerateName = s.ns, "carol-"
	if err := env.Client.Create(s.Context(), binding); err != nil {
		s.Fatal(err)
	}
}

// grant gives the test user carol a right, and waits until it is in force. Without a name, the right is for all objects
// of the resource.
func (s *shop) grant(verb, group, resource, name string) {
	s.Helper()
	rule := rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}}
	if name != "" {
		rule.ResourceNames = []string{name}
	}
	if resource == "priorityclasses" || resource == "runtimeclasses" {
		s.grantInCluster(rule)
	} else {
		role := &rbacv1.Role{Rules: []rbacv1.PolicyRule{rule}}
		role.Namespace, role.GenerateName = s.ns, "grant-"
		if err := env.Client.Create(s.Context(), role); err != nil {
			s.Fatal(err)
		}
		s.bind("Role", role.Name)
	}
	s.awaitRight(authorizationv1.ResourceAttributes{Namespace: s.ns, Verb: verb, Group: group, Resource: resource, Name: name})
}

func (s *shop) grantInCluster(rule rbacv1.PolicyRule) {
	role := &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{rule}}
	role.GenerateName = "grant-"
	if err := env.Client.Create(s.Context(), role); err != nil {
		s.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "carol"}},
	}
	binding.GenerateName = "carol-"
	if err := env.Client.Create(s.Context(), binding); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) awaitRight(right authorizationv1.ResourceAttributes) {
	s.Helper()
	operator.Until(s.T, "the right is in force", func() error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "carol", ResourceAttributes: &right}}
		if err := env.Client.Create(s.Context(), review); err != nil || !review.Status.Allowed {
			return fmt.Errorf("carol may not yet %s %s %s: %w", right.Verb, right.Resource, right.Name, err)
		}
		return nil
	})
}

func (s *shop) makeSecret(name string) {
	s.Helper()
	secret := &corev1.Secret{StringData: map[string]string{"token": "secret"}}
	secret.Namespace, secret.Name = s.ns, name
	if err := env.Client.Create(s.Context(), secret); err != nil {
		s.Fatal(err)
	}
}

// withoutStamp disables the admission policy that records requesters until the test ends.
func (s *shop) withoutStamp() {
	s.Helper()
	binding := &admissionv1.MutatingAdmissionPolicyBinding{}
	binding.Name = "opcrew-requester"
	if err := env.Client.Get(s.Context(), client.ObjectKeyFromObject(binding), binding); err != nil {
		s.Fatal(err)
	}
	if err := env.Client.Delete(s.Context(), binding); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		again := &admissionv1.MutatingAdmissionPolicyBinding{Spec: binding.Spec}
		again.Name = binding.Name
		if err := env.Client.Create(context.WithoutCancel(s.Context()), again); err != nil {
			s.Error(err)
		}
	})
}

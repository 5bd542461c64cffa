// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

// policy is the name of the admission policy that has the requester told truly, and of its
// binding: config/cluster/activity_rights.yaml.
const policy = "opcrew-activity-rights"

// controlPlane are the labels of nodes that carry the cluster itself.
var controlPlane = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}

// permit asks whether the requester may have this run on that node. Admission has asked
// before; rights may have been taken since, and what a node is only stands here.
func (r *reconciler) permit(ctx context.Context, a *egov1.Activity, node *corev1.Node) (*obstacle, error) {
	if a.Spec.Requester == nil {
		return &obstacle{final: true, reason: egov1.ReasonNoRequester, message: "nobody stands in spec.requester: install " + policy + " and make another one"}, nil
	}
	if inForce, err := r.policyInForce(ctx); err != nil || !inForce {
		return &obstacle{reason: egov1.ReasonPolicyMissing, message: "the policy " + policy + " is not in force, so that anybody could stand in spec.requester; install it"}, err
	}
	for _, right := range rights(a, node) {
		allowed, err := r.may(ctx, a.Spec.Requester, right)
		if err != nil {
			return nil, err
		}
		if !allowed {
			return &obstacle{final: true, reason: egov1.ReasonForbidden, message: forbidden(a.Spec.Requester, right)}, nil
		}
	}
	return nil, nil
}

// rights are what the requester must be allowed.
func rights(a *egov1.Activity, node *corev1.Node) []authorizationv1.ResourceAttributes {
	right := func(verb, resource, name string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{
			Namespace: a.Namespace, Verb: verb, Group: egov1.GroupVersion.Group, Version: "*", Resource: resource, Name: name,
		}
	}
	all := []authorizationv1.ResourceAttributes{right("run", "hosts", a.Spec.Host), right("run-as", "hostusers", user(a))}
	for _, label := range controlPlane {
		if _, ok := node.Labels[label]; ok {
			all = append(all, right("run-on-control-plane", "hosts", a.Spec.Host))
			break
		}
	}
	for _, e := range a.Spec.SecretEnvs {
		all = append(all, authorizationv1.ResourceAttributes{Namespace: a.Namespace, Verb: "get", Version: "v1", Resource: "secrets", Name: e.Secret})
	}
	return all
}

func (r *reconciler) may(ctx context.Context, who *egov1.Requester, right authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.Username, UID: who.UID, Groups: who.Groups, ResourceAttributes: &right,
	}}
	if err := r.Client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("ask for the rights of %s: %w", who.Username, err)
	}
	return review.Status.Allowed, nil
}

func forbidden(who *egov1.Requester, right authorizationv1.ResourceAttributes) string {
	resource := right.Resource
	if right.Group != "" {
		resource += "." + right.Group
	}
	return fmt.Sprintf("%s may not %s %s %s; an administrator can grant it, then raise spec.run", who.Username, right.Verb, resource, right.Name)
}

// policyInForce tells whether the API server has the requester told truly.
func (r *reconciler) policyInForce(ctx context.Context) (bool, error) {
	key := types.NamespacedName{Name: policy}
	rule, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	for _, object := range []client.Object{rule, binding} {
		if err := r.Live.Get(ctx, key, object); err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	fails := rule.Spec.FailurePolicy == nil || *rule.Spec.FailurePolicy == admissionv1.Fail
	everywhere := binding.Spec.MatchResources == nil && binding.Spec.PolicyName == policy
	denies := len(binding.Spec.ValidationActions) > 0 && binding.Spec.ValidationActions[0] == admissionv1.Deny
	return fails && everywhere && denies && rule.DeletionTimestamp == nil && binding.DeletionTimestamp == nil, nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// policy is the name of the admission policy that sets spec.requester, and of its binding. See
// config/cluster/activity_rights.yaml.
const policy = "opcrew-activity-rights"

// controlPlane lists the labels of nodes that run the control plane.
var controlPlane = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}

// permit checks whether the requester may run the command on the node. The admission policy checked this when the
// Activity was created, but rights may have been revoked since, and only this check knows the labels of the node.
func (r *reconciler) permit(ctx context.Context, a *egov1.Activity, node *corev1.Node) (*run.Obstacle, error) {
	if a.Spec.Requester == nil {
		return noRequester(), nil
	}
	if o, err := r.vouched(ctx, a); err != nil || o != nil {
		return o, err
	}
	if o, err := r.ofItsSchedule(ctx, a); err != nil || o != nil {
		return o, err
	}
	if o, err := r.ofItsPool(ctx, a); err != nil || o != nil {
		return o, err
	}
	return r.forbids(ctx, a, rights(a, node))
}

// forbids returns an obstacle if the requester lacks one of these rights.
func (r *reconciler) forbids(ctx context.Context, a *egov1.Activity, needed []authorizationv1.ResourceAttributes) (*run.Obstacle, error) {
	for _, right := range needed {
		allowed, err := r.may(ctx, a.Spec.Requester, right)
		if err != nil {
			return nil, err
		}
		if !allowed {
			return &run.Obstacle{Final: true, Reason: egov1.ReasonForbidden, Message: forbidden(a, right)}, nil
		}
	}
	return nil, nil
}

func noRequester() *run.Obstacle {
	return &run.Obstacle{Final: true, Reason: egov1.ReasonNoRequester, Message: "spec.requester is empty; install the admission policy " + policy + ", which sets this field, and create a new Activity"}
}

// rights returns the rights that the requester must have.
func rights(a *egov1.Activity, node *corev1.Node) []authorizationv1.ResourceAttributes {
	right := func(verb, resource, name string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{
			Verb: verb, Group: egov1.GroupVersion.Group, Version: "*", Resource: resource, Name: name,
		}
	}
	where := right("run", "hosts", a.Spec.Host)
	if run.OverSSH(a) {
		where = right("run", "sshhosts", a.Spec.SSH.Address.Host())
	}
	all := []authorizationv1.ResourceAttributes{where, right("run-as", "hostusers", run.User(a))}
	for _, label := range controlPlane {
		if _, ok := node.Labels[label]; ok {
			all = append(all, right("run-on-control-plane", "hosts", a.Spec.Host))
			break
		}
	}
	for _, name := range secretsOf(a) {
		all = append(all, authorizationv1.ResourceAttributes{Namespace: a.Namespace, Verb: "get", Version: "v1", Resource: "secrets", Name: name})
	}
	return all
}

// refusal returns an obstacle if the requester of a fleet may not drain a node, or not run the command there: a node is
// not drained for a command that is refused then.
func (r fleets) refusal(ctx context.Context, a *egov1.Activity, node *corev1.Node) (*run.Obstacle, error) {
	if len(r.Namespaces) > 0 {
		return &run.Obstacle{Final: true, Reason: egov1.ReasonForbidden, Message: "opcrew serves only some namespaces here, and may not evict pods of others; raise spec.run, and remove hosts.drain"}, nil
	}
	one := a.DeepCopy()
	one.Spec.Host = node.Name
	drains := authorizationv1.ResourceAttributes{Verb: "drain", Group: egov1.GroupVersion.Group, Version: "*", Resource: "hosts", Name: node.Name}
	return r.forbids(ctx, a, append(rights(one, node), drains))
}

func (r *reconciler) may(ctx context.Context, who *egov1.Requester, right authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.Username, UID: who.UID, Groups: who.Groups, ResourceAttributes: &right,
	}}
	if err := r.Client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("check the rights of %s: %w", who.Username, err)
	}
	return review.Status.Allowed, nil
}

func forbidden(a *egov1.Activity, right authorizationv1.ResourceAttributes) string {
	resource := right.Resource
	if right.Group != "" {
		resource += "." + right.Group
	}
	return fmt.Sprintf("user %s has no right to %s %s %s; ask an administrator for this right, then %s", a.Spec.Requester.Username, right.Verb, resource, right.Name, retryOf(a))
}

// retryOf says how a user runs the command of a refused Activity again. The operator runs one of a pool or a fleet only
// once.
func retryOf(a *egov1.Activity) string {
	switch {
	case a.Labels[claims.PoolLabel] != "":
		return "delete this Activity, so that the step is tried again"
	case a.Labels[claims.FleetLabel] != "":
		return "raise spec.run of Activity " + a.Labels[claims.FleetLabel]
	}
	return "increase spec.run"
}

// vouched returns an obstacle if the admission policy was not in force when the run of an Activity was requested.
// Without the policy, users could write the name of another user into spec.requester.
func (r *reconciler) vouched(ctx context.Context, a *egov1.Activity) (*run.Obstacle, error) {
	since, err := r.policySince(ctx)
	if err != nil {
		return nil, err
	}
	switch asked := askedAt(a); {
	case since.IsZero():
		return &run.Obstacle{Reason: egov1.ReasonPolicyMissing, Message: "the admission policy " + policy + " is not in force, so opcrew cannot trust spec.requester; install the policy"}, nil
	case asked.Before(since.Add(policyDelay)):
		return &run.Obstacle{Final: true, Reason: egov1.ReasonPolicyMissing, Message: "the run was requested before the admission policy " + policy + " was in force, so opcrew cannot trust spec.requester; create a new Activity"}, nil
	}
	return nil, nil
}

// policyDelay is how long an API server may take to enforce a new admission policy.
const policyDelay = 10 * time.Second

// askedAt returns when a user requested the current run of an Activity, or a slightly later time.
func askedAt(a *egov1.Activity) time.Time {
	if run.Number(a) > 1 && a.Status.RunSince != nil {
		return a.Status.RunSince.Time
	}
	return a.CreationTimestamp.Time
}

// ofItsSchedule returns an obstacle if the schedule or fleet that owns the run does not exist or has another requester.
// It compares spec.requester of the run with that of the owner, not the account that created the run.
func (r *reconciler) ofItsSchedule(ctx context.Context, a *egov1.Activity) (*run.Obstacle, error) {
	by := metav1.GetControllerOf(a)
	if by == nil || by.Kind != "Activity" {
		return nil, nil
	}
	schedule := &egov1.Activity{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: by.Name}, schedule)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read schedule %s: %w", by.Name, err)
	}
	if schedule.UID != by.UID || !equality.Semantic.DeepEqual(schedule.Spec.Requester, a.Spec.Requester) {
		return &run.Obstacle{Final: true, Reason: egov1.ReasonForbidden, Message: "the requester of this run is not the requester of Activity " + by.Name + ", which owns the run"}, nil
	}
	// A second run would need no approval, and no room in the budget of the fleet.
	if schedule.Spec.Hosts != nil && run.Number(a) > 1 {
		return &run.Obstacle{Final: true, Reason: egov1.ReasonForbidden, Message: "the run belongs to Activity " + by.Name + ", which runs on several hosts; raise spec.run there"}, nil
	}
	return nil, nil
}

// policySince returns the time from which the API server has enforced the admission policy for spec.requester; zero if
// it does not enforce the policy.
func (r *reconciler) policySince(ctx context.Context) (time.Time, error) {
	key := types.NamespacedName{Name: policy}
	rule, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	for _, object := range []client.Object{rule, binding} {
		if err := r.Live.Get(ctx, key, object); err != nil {
			return time.Time{}, client.IgnoreNotFound(err)
		}
	}
	fails := rule.Spec.FailurePolicy == nil || *rule.Spec.FailurePolicy == admissionv1.Fail
	everywhere := binding.Spec.MatchResources == nil && binding.Spec.PolicyName == policy
	denies := len(binding.Spec.ValidationActions) > 0 && binding.Spec.ValidationActions[0] == admissionv1.Deny
	if !fails || !everywhere || !denies || rule.DeletionTimestamp != nil || binding.DeletionTimestamp != nil {
		return time.Time{}, nil
	}
	since := rule.CreationTimestamp.Time
	if binding.CreationTimestamp.After(since) {
		since = binding.CreationTimestamp.Time
	}
	return since, nil
}

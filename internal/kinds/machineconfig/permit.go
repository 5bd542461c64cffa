// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	inforce "github.com/opcrew/opcrew/internal/guard/policy"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
)

// policy is the name of the admission policy about requesters, and of its binding: config/machineconfig/rights.yaml.
const policy = "opcrew-machineconfig-rights"

// requester is the user who created or last changed an object, as the API server recorded that user.
type requester struct {
	Username string   `json:"username"`
	UID      string   `json:"uid,omitempty"`
	Groups   []string `json:"groups,omitempty"`
}

// permit checks whether the requesters of the pool and of its MachineConfigs may configure machines of the pool, and
// read the Secrets that are used. Admission checked this before, but labels and rights may have changed since.
func (r *poolReconciler) permit(ctx context.Context, pool *mcfgv1.MachineConfigPool, configs []mcfgv1.MachineConfig, uses []render.SecretUse) (*problem, error) {
	if bound, err := inforce.InForce(ctx, r.Live, policy); err != nil || !bound {
		return &problem{mcfgv1.ReasonPolicyMissing, "the admission policy " + policy + " is not in force, so opcrew cannot know who requested a configuration: " +
			"apply config/machineconfig"}, err
	}
	objects := []client.Object{pool}
	for i := range configs {
		objects = append(objects, &configs[i])
	}
	for _, object := range objects {
		if p, err := r.permitObject(ctx, object, pool.Name); err != nil || p != nil {
			return p, err
		}
	}
	return r.permitSecrets(ctx, objects, uses)
}

func (r *poolReconciler) permitObject(ctx context.Context, object client.Object, pool string) (*problem, error) {
	who := requesterOf(object)
	if who == nil {
		return &problem{common.ReasonRequesterUnknown, fmt.Sprintf("annotation %s of %s is missing, so opcrew cannot check the rights of its author: apply the object again",
			common.RequesterAnnotation, object.GetName())}, nil
	}
	right := authorizationv1.ResourceAttributes{Verb: "apply", Group: mcfgv1.GroupVersion.Group, Version: "*", Resource: "machines", Name: pool}
	if isPool(object) {
		right.Name = "" // its requester chose its nodes, and can have chosen any
	}
	return r.may(ctx, who, object.GetName(), right)
}

func isPool(object client.Object) bool {
	_, is := object.(*mcfgv1.MachineConfigPool)
	return is
}

// permitSecrets checks the rights to the Secrets that the merged configuration uses: those of the author of each
// MachineConfig that names the Secret, and those of the requester of the pool, who chose which nodes get it.
func (r *poolReconciler) permitSecrets(ctx context.Context, objects []client.Object, uses []render.SecretUse) (*problem, error) {
	type pair struct {
		object client.Object
		secret client.ObjectKey
	}
	seen := map[pair]bool{}
	for _, use := range uses {
		for _, object := range objects {
			key := pair{object, client.ObjectKey{Namespace: use.Namespace, Name: use.Name}}
			if seen[key] || !mentions(object, use.SecretKey) {
				continue
			}
			seen[key] = true
			right := authorizationv1.ResourceAttributes{Namespace: use.Namespace, Verb: "get", Version: "v1", Resource: "secrets", Name: use.Name}
			if p, err := r.may(ctx, requesterOf(object), object.GetName(), right); err != nil || p != nil {
				return p, err
			}
		}
	}
	return nil, nil
}

// may checks a right of a requester.
func (r *poolReconciler) may(ctx context.Context, who *requester, object string, right authorizationv1.ResourceAttributes) (*problem, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.Username, UID: who.UID, Groups: who.Groups, ResourceAttributes: &right,
	}}
	if err := r.Client.Create(ctx, review); err != nil {
		return nil, fmt.Errorf("check the rights of %s: %w", who.Username, err)
	}
	if review.Status.Allowed {
		return nil, nil
	}
	return &problem{common.ReasonRequesterMayNot, fmt.Sprintf("user %s, who last changed %s, may not %s %s: have an administrator grant the right, or apply %s as a user who has it",
		who.Username, object, right.Verb, subject(right), object)}, nil
}

// subject names what a right is about.
func subject(right authorizationv1.ResourceAttributes) string {
	switch {
	case right.Name == "":
		return right.Resource + "." + right.Group + " of all pools"
	case right.Group != "":
		return right.Resource + "." + right.Group + " " + right.Name
	}
	return right.Resource + " " + right.Name + " in namespace " + right.Namespace
}

func requesterOf(object client.Object) *requester {
	out := &requester{}
	if err := json.Unmarshal([]byte(object.GetAnnotations()[common.RequesterAnnotation]), out); err != nil || out.Username == "" {
		return nil
	}
	return out
}

// mentions reports whether an object is responsible for the use of a key of a Secret: a MachineConfig that refers to
// it, or that cannot be rendered alone and may refer to it, or the pool.
func mentions(object client.Object, key render.SecretKey) bool {
	mc, is := object.(*mcfgv1.MachineConfig)
	if !is {
		return true
	}
	alone, err := render.Render([]mcfgv1.MachineConfig{*mc})
	if err != nil {
		return true
	}
	return slices.ContainsFunc(alone.Secrets, func(use render.SecretUse) bool { return use.SecretKey == key })
}

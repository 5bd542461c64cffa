// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"encoding/json"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// requester is the user who requested an object. The API server records that user in common.RequesterAnnotation.
type requester struct {
	Username string   `json:"username"`
	UID      string   `json:"uid,omitempty"`
	Groups   []string `json:"groups,omitempty"`
}

// parse reads the record of a requester. It returns nil if the record is missing or invalid.
func parse(record string) *requester {
	who := &requester{}
	if err := json.Unmarshal([]byte(record), who); err != nil || who.Username == "" {
		return nil
	}
	return who
}

// review returns a SubjectAccessReview that asks whether the requester may use an object.
func (r *requester) review(namespace string, of reference) *authorizationv1.SubjectAccessReview {
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: r.Username, UID: r.UID, Groups: r.Groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: of.namespace(namespace), Verb: of.verb, Group: of.group, Version: "*", Resource: of.resource, Name: of.name,
		},
	}}
}

// mayNot returns the message for a right that the requester does not have.
func (r *requester) mayNot(namespace string, of reference) string {
	instead := "remove the reference from the spec"
	if of.implied {
		instead = "create the object under another name"
	}
	return fmt.Sprintf("User %s may not %s %s %s, which %s uses; %s, or %s. opcrew checks the right again every minute",
		r.Username, of.verb, of.fullResource(), of.name, of.where, of.grant(namespace, r.Username), instead)
}

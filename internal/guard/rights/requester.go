// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"encoding/json"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// requester is the user who asked for an object, as the API server has recorded it in common.RequesterAnnotation.
type requester struct {
	Username string   `json:"username"`
	UID      string   `json:"uid,omitempty"`
	Groups   []string `json:"groups,omitempty"`
}

// parse reads a record; nil if there is none, or none that can be read.
func parse(record string) *requester {
	who := &requester{}
	if err := json.Unmarshal([]byte(record), who); err != nil || who.Username == "" {
		return nil
	}
	return who
}

// review asks whether the requester has the right to something in a namespace.
func (r *requester) review(namespace string, of reference) *authorizationv1.SubjectAccessReview {
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: r.Username, UID: r.UID, Groups: r.Groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: of.namespace(namespace), Verb: of.verb, Group: of.group, Version: "*", Resource: of.resource, Name: of.name,
		},
	}}
}

// mayNot is the message about a right that the requester does not have.
func (r *requester) mayNot(namespace string, of reference) string {
	instead := "take it out of the spec"
	if of.implied {
		instead = "create the object under another name"
	}
	return fmt.Sprintf("%s may not %s %s %s, which %s uses: %s, or %s; rights are checked again every minute",
		r.Username, of.verb, of.fullResource(), of.name, of.where, of.grant(namespace, r.Username), instead)
}

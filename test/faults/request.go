// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"slices"
	"strings"
)

// target is the object or resource of a request, read from its method and path.
type target struct {
	verb, group, resource, subresource, namespace, name string
}

// parse understands the paths of the Kubernetes API. For other paths the resource is empty.
func parse(req *http.Request) target {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	t := target{}
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		t.group, parts = parts[1], parts[3:]
	default:
		parts = nil
	}
	if len(parts) > 2 && parts[0] == "namespaces" && !slices.Contains([]string{"status", "finalize"}, parts[2]) {
		t.namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&t.resource, &t.name, &t.subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	t.verb = t.verbOf(req)
	return t
}

func (t target) verbOf(req *http.Request) string {
	switch req.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	switch watch := req.URL.Query().Get("watch"); {
	case watch == "true" || watch == "1":
		return "watch"
	case t.name == "":
		return "list"
	}
	return "get"
}

// counted reports whether an operator at rest must not make the request. As in testenv.Call, this holds for all but
// watches, leases, events and reviews.
func (t target) counted() bool {
	if t.verb == "watch" || t.resource == "events" {
		return false
	}
	return !slices.Contains([]string{"coordination.k8s.io", "authentication.k8s.io", "authorization.k8s.io"}, t.group)
}

// write reports whether the request is a counted write.
func (t target) write() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, t.verb) && t.counted()
}

// String formats the target as in a role: "patch nodes/status n-0".
func (t target) String() string {
	what := t.resource
	if t.subresource != "" {
		what += "/" + t.subresource
	}
	return strings.TrimSpace(t.verb + " " + what + " " + t.name)
}

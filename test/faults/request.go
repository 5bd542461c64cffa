// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"slices"
	"strings"
)

// target is the Kubernetes object or resource that a request addresses, and the verb.
type target struct {
	verb, group, resource, subresource, namespace, name string
}

// parse returns the target of an HTTP request to the Kubernetes API. For other requests, the resource is empty.
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

// counted reports whether the request counts as work of the operator. An operator that has nothing to do must not make
// such requests. Watches, leases, events and access reviews do not count.
func (t target) counted() bool {
	if t.verb == "watch" || t.resource == "events" {
		return false
	}
	return !slices.Contains([]string{"coordination.k8s.io", "authentication.k8s.io", "authorization.k8s.io"}, t.group)
}

// write reports whether the request changes something and counts as work of the operator.
func (t target) write() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete"}, t.verb) && t.counted()
}

// String formats the target as verb, resource and name: "patch nodes/status n-0".
func (t target) String() string {
	what := t.resource
	if t.subresource != "" {
		what += "/" + t.subresource
	}
	return strings.TrimSpace(t.verb + " " + what + " " + t.name)
}

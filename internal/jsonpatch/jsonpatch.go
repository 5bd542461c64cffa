// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package jsonpatch builds JSON patches (RFC 6902): operations, JSON pointers and the encoding. The operator and the
// agents send such patches to objects that other clients write too, because a patch can test what a decision is based on.
//
// What a patch changes, when it is sent, and what follows a refusal belong to the callers. The package does not apply
// patches, and knows no Kubernetes types.
package jsonpatch

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Patch is a list of operations. The API server applies them in this order, and applies none if one of them fails.
type Patch []Operation

// Operation is one operation of a patch. Servers ignore the value of a remove operation, which is always null.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Test makes the patch fail unless path has the value. A nil value means that path must not exist.
func Test(path string, value any) Operation { return Operation{"test", path, value} }

// Absent makes the patch fail if path exists.
func Absent(path string) Operation { return Test(path, nil) }

// Unchanged makes the patch fail unless path is as it was observed: it has the value if it was found, and otherwise it
// does not exist.
func Unchanged(path string, value any, found bool) Operation {
	if !found {
		return Absent(path)
	}
	return Test(path, value)
}

// Add sets a value, whether path exists or not. The parent of path must exist.
func Add(path string, value any) Operation { return Operation{"add", path, value} }

// Replace sets a value at a path that must exist.
func Replace(path string, value any) Operation { return Operation{"replace", path, value} }

// Remove removes path, which must exist.
func Remove(path string) Operation { return Operation{Op: "remove", Path: path} }

// Pointer returns the JSON pointer (RFC 6901) to a field, given the names on the way to it. It escapes the names, such
// as the keys of labels, which contain slashes.
func Pointer(names ...string) string {
	var out strings.Builder
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, name := range names {
		out.WriteString("/" + escape.Replace(name))
	}
	return out.String()
}

// Encode returns the patch as JSON. It panics if a value cannot be JSON, which is a mistake in the code: values are
// strings, booleans, and types of the Kubernetes API.
func (p Patch) Encode() []byte {
	data, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Errorf("encode a JSON patch: %w", err))
	}
	return data
}

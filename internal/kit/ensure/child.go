// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/guard"
)

// Child declares one object that must exist, with all fields that opcrew sets in it.
type Child struct {
	// Object is an apply configuration with a deterministic name. Ensure adds the owner reference, labels and a hash of
	// the declaration.
	Object runtime.ApplyConfiguration
	// Carry lists dotted paths, such as spec.replicas, that another manager owns, such as an autoscaler. Ensure applies
	// their live values again, and neither hashes nor compares them.
	Carry []string
	// ReplaceOn lists dotted paths of immutable fields. If one of these fields differs, Ensure deletes the child, and
	// creates it again when it is gone.
	ReplaceOn []string
	// Whole lists dotted paths of maps in custom resources that opcrew owns as a whole, such as label selectors. A key
	// that another manager adds there counts as drift. The CRD must mark the map as atomic.
	Whole []string
	// Once marks a child that cannot be changed, such as a Pod. Ensure creates it if it does not exist, and never
	// compares or applies it again.
	Once bool
	// Orphan keeps the objects that a replaced child owns, such as the pods of a StatefulSet. The new child adopts
	// them.
	Orphan bool
	// Pin, if set, keeps a part of the child unchanged when the operator is upgraded.
	Pin *Pin
	// Keep marks a child that holds data, such as a claim. opcrew never deletes such a child. A later owner with the
	// same kind and name takes over the child.
	Keep bool
	// Retain marks a child that must outlive its owner. Such a child gets no owner reference.
	Retain bool
	// DecidedOn, if set, is the resourceVersion of the live child from which the declaration was computed. If the child
	// has changed since, the API server returns a conflict.
	DecidedOn string
	// New marks a declaration that is only valid if the child does not exist. If it exists, Ensure returns a conflict.
	New bool
	// Random marks a child with random content, such as a password. If two processes create it at the same time, the
	// API server must refuse the second one: an apply would replace a password that a client may have read already.
	Random bool
	// Security is the security profile for the pod of the child; empty means Restricted.
	Security guard.Security
	// Trust lists the parts of the pod that are allowed even if the requester, the user who created the owner, has no
	// right to use them.
	Trust guard.Trust
}

// Ref identifies an object by its kind, namespace and name.
type Ref struct {
	schema.GroupVersionKind
	client.ObjectKey
}

// String returns the reference for messages, such as RuntimeClass gold or Service shop/web.
func (r Ref) String() string {
	return r.Kind + " " + strings.TrimPrefix(r.ObjectKey.String(), "/")
}

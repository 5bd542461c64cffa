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

// Child is one object that must exist, declared as a whole.
type Child struct {
	// Object is an apply configuration with a deterministic name. The owner reference, labels and hash are added to it.
	Object runtime.ApplyConfiguration
	// Carry lists dotted paths, such as spec.replicas, whose live value belongs to another manager, such as an autoscaler.
	// The live value is applied again, and is neither hashed nor compared.
	Carry []string
	// ReplaceOn lists dotted paths that the API server does not allow to change. If one of them differs, the child is
	// deleted, and created again when it is gone.
	ReplaceOn []string
	// Once marks a child that cannot be changed, such as a Pod. It is created if it does not exist, and is neither
	// compared nor applied again.
	Once bool
	// Orphan keeps what a replaced child owns, such as the pods of a StatefulSet. Its successor adopts them.
	Orphan bool
	// Pin, if set, keeps an upgrade of the operator from changing a part of the child.
	Pin *Pin
	// Keep marks a child that holds data, such as a claim. It is never deleted, and a later owner of the same kind and
	// name gets it again.
	Keep bool
	// Retain marks a child that outlives its owner. It gets no owner reference.
	Retain bool
	// DecidedOn, if set, is the resourceVersion of the live child that the declaration depends on. If the child has
	// changed since, the API server answers with a conflict.
	DecidedOn string
	// New marks a declaration that depends on the child not existing. If the child exists, that is a conflict.
	New bool
	// Random marks content that is generated at random, such as a password. If it is created twice at the same time, the
	// second creation is refused. An apply over the first would change what a client may have read already.
	Random bool
	// Security names the rules for the pod of the child; empty: Restricted.
	Security guard.Security
	// Trust is what of its pod needs no right of the user who asked for the owner.
	Trust guard.Trust
}

// Ref identifies a child by its kind, namespace and name.
type Ref struct {
	schema.GroupVersionKind
	client.ObjectKey
}

// String returns the reference as users read it, such as RuntimeClass gold or Service shop/web.
func (r Ref) String() string {
	return r.Kind + " " + strings.TrimPrefix(r.ObjectKey.String(), "/")
}

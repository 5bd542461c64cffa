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

// Child is one object that is to exist, declared whole.
type Child struct {
	// Object is an apply configuration with a deterministic name. Owner reference, labels and hash are added.
	Object runtime.ApplyConfiguration
	// Carry lists dotted paths, such as spec.replicas, whose live value belongs to another manager, such as an
	// autoscaler. The live value is applied again, and neither hashed nor compared.
	Carry []string
	// ReplaceOn lists dotted paths that the API server does not let change. If one differs, the child is
	// deleted, and created again when it is gone.
	ReplaceOn []string
	// Once is for a child that cannot be changed, such as a Pod: it is created if it does not exist, and
	// neither compared nor applied again.
	Once bool
	// Orphan keeps what a replaced child owns, such as the pods of a StatefulSet: its successor adopts them.
	Orphan bool
	// Pin, if set, keeps a part from being changed by an upgrade of the operator.
	Pin *Pin
	// Keep is for a child that holds data, such as a claim: it is never deleted, and a later owner of the same
	// kind and name has it again.
	Keep bool
	// Retain is for a child that outlives its owner: it gets no owner reference.
	Retain bool
	// DecidedOn, if set, is the resourceVersion of the live child that the declaration depends on. If the child
	// has changed since, the API server answers with a conflict.
	DecidedOn string
	// New is for a declaration that depends on the child not existing: a child that exists is a conflict.
	New bool
	// Random is for content that is generated at random, such as a password. Of two creations at once the
	// second is refused: an apply over the first would change what a client may have read already.
	Random bool
	// Security names the rules for the pod of the child; empty: Restricted.
	Security guard.Security
	// Trust is what of its pod needs no right of the user who asked for the owner.
	Trust guard.Trust
}

// Ref names a child: its kind, namespace and name.
type Ref struct {
	schema.GroupVersionKind
	client.ObjectKey
}

// String returns the reference as users read it, such as RuntimeClass gold or Service shop/web.
func (r Ref) String() string {
	return r.Kind + " " + strings.TrimPrefix(r.ObjectKey.String(), "/")
}

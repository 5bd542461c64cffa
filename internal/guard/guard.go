// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Guard decides whether a finished pod may be written: with all that users, opcrew and pinning put into it. It also
// decides about a new volume claim, because its volume may start with a copy of other data.
type Guard interface {
	// Object returns why the pod or claim may not be written; nil if it may. It is called only before a write.
	Object(ctx context.Context, owner client.Object, pod Pod) (*Objection, error)
}

// Pod is the finished pod of a child: the child itself, or the template of a Deployment or StatefulSet. For a new volume
// claim it has only Claim.
type Pod struct {
	// Kind and ObjectKey name the child.
	Kind string
	client.ObjectKey
	// Security and Trust are those that the kind declares for the child.
	Security Security
	Trust    Trust
	// Template is the pod as it would be written, without the API server's defaults. Live is that of the
	// child in the cluster; nil if there is none.
	Template, Live *corev1.PodTemplateSpec
	// Claim is the child itself if it is a volume claim that does not exist yet; nil otherwise.
	Claim *corev1.PersistentVolumeClaimSpec
	// Claims are the names of the claims for new pods of a StatefulSet. A claim that already has such a name is used.
	Claims []string
}

// String names the child as users read it, such as StatefulSet shop/db.
func (p Pod) String() string { return p.Kind + " " + p.ObjectKey.String() }

// Objection is why a pod is not written: a reason for conditions, and a message that names the field and what to
// write instead.
type Objection struct {
	Reason, Message string
	// Again is when to ask again; 0: when an event comes.
	Again time.Duration
}

// Trust is what of a pod needs no right of the user who asked for its owner.
type Trust struct {
	// All is for a pod whose kind has checked the rights of that user itself.
	All bool
	// Volumes are the names of those that the kind adds, and that only its own containers mount.
	Volumes []string
	// Requesters are, by volume, the values of common.RequesterAnnotation of other objects that ask for it.
	Requesters map[string]string
}

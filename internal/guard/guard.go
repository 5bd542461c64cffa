// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Guard decides whether opcrew may write a finished pod: one with all settings of the user and of opcrew. Guard also
// decides whether opcrew may create a volume claim, because a new volume can start with a copy of other data.
type Guard interface {
	// Object returns why opcrew may not write the pod or claim; nil if it may. Package ensure calls it before each
	// write.
	Object(ctx context.Context, owner client.Object, pod Pod) (*Objection, error)
}

// Pod is the finished pod of a child object. The child is a Pod, or a workload with a pod template, such as a
// Deployment. If the child is a new volume claim, the fields for pods are empty and Claim is set.
type Pod struct {
	// Kind and ObjectKey identify the child object.
	Kind string
	client.ObjectKey
	// Security is the profile that the pod must follow. Trust lists the parts of the pod that are exempt from the check
	// of the user's rights. The package that declares the child sets both.
	Security Security
	Trust    Trust
	// Template is the pod that opcrew would write, without the defaults of the API server. Live is the pod of the child
	// that exists in the cluster; nil if there is none.
	Template, Live *corev1.PodTemplateSpec
	// Claim is the spec of the child if the child is a volume claim that does not exist yet; nil otherwise.
	Claim *corev1.PersistentVolumeClaimSpec
	// Claims are the names of the volume claims for new pods of a StatefulSet. If a claim with such a name already
	// exists, the new pod uses that claim.
	Claims []string
}

// String returns kind and name of the child for messages, such as StatefulSet shop/db.
func (p Pod) String() string { return p.Kind + " " + p.ObjectKey.String() }

// Objection explains why a guard refuses a pod. Reason is a condition reason. Message names the field, and what the
// user can write instead.
type Objection struct {
	Reason, Message string
	// Again is how long to wait before the next check; with 0, opcrew checks again at the next event.
	Again time.Duration
}

// Trust lists exceptions to the check of rights. Normally, the requester (the user who created or last changed the
// owner of the pod) must have the right to use every object that the pod uses.
type Trust struct {
	// All is true if no part of the pod needs a check, because the package that declares the pod has already checked
	// the requester's rights.
	All bool
	// Volumes are the names of volumes that opcrew adds to the pod and mounts only in its own containers.
	Volumes []string
	// Requesters is for volumes that the spec of another object requests, and not the spec of the pod's owner. It maps
	// the name of each such volume to the RequesterAnnotation of the other object. opcrew then checks the rights of the
	// user in that annotation.
	Requesters map[string]string
}

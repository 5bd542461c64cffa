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
	// Security is the profile that the pod must follow, and Trust what needs no check of rights. Each kind declares
	// both.
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

// Trust lists the parts of a pod that need no right of the requester, the user who requested the owner of the pod.
type Trust struct {
	// All is true if the kind itself has checked the rights of the requester, so that no part needs another check.
	All bool
	// Volumes are the names of volumes that the kind adds, and that only containers of opcrew mount.
	Volumes []string
	// Requesters maps a volume to the RequesterAnnotation of another object that refers to what the volume mounts.
	Requesters map[string]string
}

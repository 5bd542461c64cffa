// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// Input is the input of the decision.
type Input struct {
	Diva *opsv1.Diva
	// Claims are the Diva's claims by name. Stale marks claims that the cache has from before opcrew's last patch.
	Claims map[string]*corev1.PersistentVolumeClaim
	Stale  map[string]bool
	// OwnSizes marks the claims whose size is too large and was written by opcrew.
	OwnSizes map[string]bool
	// Rigid maps storage classes to the reason why their volumes cannot grow, for claims that should grow.
	Rigid map[string]string
	// Template is the size in the StatefulSet's claim template; nil if there is no StatefulSet.
	Template *resource.Quantity
	// Users maps the names of claims to the pods that use them.
	Users map[string]string
	// Unbound says why the first claim without a volume has none.
	Unbound string
	Now     time.Time
}

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
	// Claims are those of the Diva by name. Stale are those that the cache has as they were before opcrew's last patch.
	Claims map[string]*corev1.PersistentVolumeClaim
	Stale  map[string]bool
	// OwnSizes are the claims whose too large size opcrew itself wrote.
	OwnSizes map[string]bool
	// Rigid says, by class, why volumes do not grow, of the classes whose claims are to grow.
	Rigid map[string]string
	// Template is the size in the StatefulSet's claim template; nil if there is no StatefulSet.
	Template *resource.Quantity
	// Users are the pods that use claims, by the names of the claims.
	Users map[string]string
	// Unbound is why the first claim without a volume has none.
	Unbound string
	Now     time.Time
}

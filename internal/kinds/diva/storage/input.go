// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// Input holds everything on which this package bases its decisions.
type Input struct {
	Diva *opsv1.Diva
	// Claims are the Diva's claims by name. Stale marks claims for which the cache does not show opcrew's last patch
	// yet.
	Claims map[string]*corev1.PersistentVolumeClaim
	Stale  map[string]bool
	// OwnSizes marks the claims whose requested size opcrew wrote itself. opcrew lowers only requests that it wrote.
	OwnSizes map[string]bool
	// Rigid explains, by StorageClass, why volumes of the class cannot grow. It covers only the classes of claims that
	// should grow.
	Rigid map[string]string
	// Template is the size in the claim template of the StatefulSet; nil if there is no StatefulSet.
	Template *resource.Quantity
	// Users maps the names of claims to the pods that use them.
	Users map[string]string
	// Unbound explains why the first claim without a volume has none.
	Unbound string
	Now     time.Time
}

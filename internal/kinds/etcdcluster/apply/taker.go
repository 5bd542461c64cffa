// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Taker takes steps on the live cluster.
type Taker struct {
	*kit.Tools
	Prober *etcd.Prober
	// Refused holds the clusters' answers to steps that they did not take. Upkeep holds what was done to their data.
	Refused *Refusals
	Upkeep  *Histories
}

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
	// Refused records the steps that clusters refused. Upkeep records what opcrew did to their data.
	Refused *Refusals
	Upkeep  *Histories
}

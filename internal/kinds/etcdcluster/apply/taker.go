// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Taker carries out steps, such as adding a member, in running etcd clusters.
type Taker struct {
	*kit.Tools
	Prober *etcd.Prober
	// Refused remembers the last failed step of each cluster. Upkeep remembers what opcrew did to the clusters' data.
	Refused *Refusals
	Upkeep  *Histories
}

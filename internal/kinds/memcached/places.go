// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/workload"
)

// costOf returns a function that describes what clients lose if some servers fail. Harms is true if more than half of
// the keys are lost at once, because the database behind the cache may then get more requests than it can handle.
func costOf(servers int32) func(lost []string) workload.Cost {
	return func(lost []string) workload.Cost {
		n := int32(len(lost))
		return workload.Cost{
			Words: fmt.Sprintf("%d of %d servers: %d%% of the keys", n, servers, moved(servers, servers-n)),
			Harms: 2*n > servers,
		}
	}
}

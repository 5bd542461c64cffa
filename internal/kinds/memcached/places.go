// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/workload"
)

// costOf says what the loss of some of so many servers costs: a client that goes on without them looks for their keys
// elsewhere. More than half of the keys at once is what the store behind a cache may not be made for.
func costOf(servers int32) func(lost []string) workload.Cost {
	return func(lost []string) workload.Cost {
		n := int32(len(lost))
		return workload.Cost{
			Words: fmt.Sprintf("%d of %d servers: %d%% of the keys", n, servers, moved(servers, servers-n)),
			Harms: 2*n > servers,
		}
	}
}

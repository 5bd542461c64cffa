// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"

// Containers of a pod. The two servers are named home and guest.
const (
	HomeContainer  = string(redisv1alpha1.Home)
	GuestContainer = string(redisv1alpha1.Guest)
	AgentContainer = "agent"
)

// DataVolume is the vendor's name for the volumes with data. Their claims are named <dataVolume>-<pod>.
const DataVolume = "redis-enterprise-storage"

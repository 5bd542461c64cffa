// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"

// Names of the containers in a pod. The home container runs the primary of the pod's own shard, and the guest container
// runs a replica of another pod's shard.
const (
	HomeContainer  = string(redisv1alpha1.Home)
	GuestContainer = string(redisv1alpha1.Guest)
	AgentContainer = "agent"
)

// DataVolume is the name of the data volumes, as the Redis Enterprise operator names them. Volume claims are named
// <DataVolume>-<pod>.
const DataVolume = "redis-enterprise-storage"

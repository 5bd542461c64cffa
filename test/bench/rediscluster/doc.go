// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rediscluster measures how long RedisEnterpriseCluster needs to create a cluster and to move slots. It
// compares the times with redis-cli, which does the same to other servers, in alternating rounds. The servers are real
// and have the same configuration as in pods. The same checks of all servers decide when either side is done.
//
// The package also measures how long a shard has no primary after a failure, and compares this with the time that Redis
// guarantees. And it counts the commands that the operator sends to servers when it has nothing to do. This number is
// exact, so the test checks it.
//
//	make bin/redis-server bin/redis-cli
//	go test -tags bench -count 1 -v ./test/bench/rediscluster
package rediscluster

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rediscluster times what the data plane of RedisEnterpriseCluster does to real
// servers beside redis-cli, which does the same to servers of its own, in turns of the same
// run: a cluster is created, and slots are moved. Servers are started as in pods, with the
// same configuration. Both sides are done when the same questions to all servers say so.
//
// How long a shard is without a primary is measured beside what the servers promise, and
// what the prober asks of servers at rest is counted: that is exact, and asserted.
//
//	make bin/redis-server bin/redis-cli
//	go test -tags bench -count 1 -v ./test/bench/rediscluster
package rediscluster

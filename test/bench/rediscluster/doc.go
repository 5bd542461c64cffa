// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rediscluster times what RedisEnterpriseCluster does to real servers, and compares it with redis-cli, which
// does the same to other servers, in alternating rounds of one run. A cluster is created, and slots are moved. Servers
// run as in pods, with the same configuration. For both sides the same checks of all servers decide when they are done.
//
// It also measures how long a shard has no primary after a failure, compared with what the servers promise. And it
// counts the prober's commands to servers at rest; these are exact, so the test asserts them.
//
//	make bin/redis-server bin/redis-cli
//	go test -tags bench -count 1 -v ./test/bench/rediscluster
package rediscluster

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisserver starts one of the two Redis or Valkey servers of a pod: the home server, which is the primary of
// the pod's own shard, or the guest server, a replica of a neighbour pod's shard. Each has a folder of its own.
//
// A server in cluster mode resumes as the node in its nodes.conf, whatever data it finds. If it has lost its data but
// not this file, it starts as an empty primary. Its replica then copies the empty data, and the shard is lost without
// an error. Therefore, this package takes the following steps before each start:
//
//   - folder.go reads the folder, and decide.go (a pure function) decides whether a server may start with it. If not,
//     the whole folder is renamed and the server starts as a new node, so that its replica becomes the primary. Nothing
//     is ever deleted;
//   - identity.go blocks replication until replicas cannot mistake the server for another one;
//   - trial.go leaves out settings of the user with which the server would not start;
//   - config.go builds the configuration, and users.go the users. Both are pure functions.
//
// run.go takes these steps and then replaces itself with the server. Signals and the exit code are therefore those of
// the server.
//
// The operator changes settings of running servers, and decides which server replicates which.
package redisserver

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisserver starts Redis or Valkey in one of the two places of a pod, with the folder of this place.
//
// A server in cluster mode continues as the node in its nodes.conf, whatever data it finds. If it has lost its data but
// not this file, it starts as an empty primary, its replica copies that, and the shard is lost without an error. So
// before each start:
//
//   - folder.go reads the folder, and decide.go, which is pure, decides whether a server may continue with it. If not,
//     the whole folder is put aside and the server starts as a new node, so that its replica becomes the primary.
//     Nothing is ever deleted;
//   - identity.go blocks replication until replicas cannot mistake the server for another one;
//   - trial.go leaves out the user's settings with which the server would not start;
//   - config.go writes the configuration and users.go the users. Both are pure.
//
// run.go does all this and then becomes the server, so signals and the exit code are the server's own.
//
// The operator changes running servers, and decides which server replicates which.
package redisserver

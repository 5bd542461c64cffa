// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redisserver starts Redis or Valkey in one of the two places of a pod, on the folder
// that belongs to this place.
//
// A server in cluster mode goes on as the node that its nodes.conf names, whatever else it
// finds. One that has lost its data and not this file starts as an empty primary; its replica
// copies that, and the shard is gone without an error anywhere. So before each start:
//
//   - folder.go looks at what the folder holds, and decide.go, which is pure, says whether a
//     server may go on with it. If not, the whole folder is put aside, and the server starts
//     as a new node: its replica leads the shard then. Nothing is ever deleted;
//   - stranger.go has no replica copy it for the one that was at its address before;
//   - trial.go leaves out of the user's settings those that the server would not start with;
//   - config.go writes the configuration again, and users.go the users: both are pure.
//
// run.go goes through this and then becomes the server, so that signals and the exit code are
// the server's own.
//
// What does not live here: changes of a server that runs, and who is whose replica. Both
// belong to the operator.
package redisserver

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshrun runs one command on a host outside the cluster over SSH, at most once, and reports the result. Its pod
// has no privileges. Everything that the SSH server sends is untrusted: package sshrun limits its size and waits for it
// only for a limited time.
//
//   - runner.go reads the order (package hostjob) and writes the result to the container's termination message.
//   - login.go reads the private key and the host keys. dial.go connects, and link.go keeps the connection.
//   - exchange.go sends a script (package script) to the host, and reads what it reports and prints.
//   - follow.go waits for the end of the command, and ends it early. poll.go finds out how it ended if the connection
//     is lost. conclude.go makes a result of that.
//
// docs/design/sshrun.md describes how a second execution is prevented.
package sshrun

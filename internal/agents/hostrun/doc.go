// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostrun runs one command on the host of its pod, at most once, and reports the result. The pod has hostPID
// and is privileged. It contains nothing but this binary.
//
// Three processes of the same binary share the work, because each can do what the others cannot:
//
//   - The runner (runner.go, relay.go) stays in the container. It reads the order (package hostjob) and the Secrets,
//     enters the namespaces of the host's first process with one thread (enter.go), starts the host stage there, and
//     writes the result to the container's termination message. The kubelet watches and signals this process.
//   - The host stage (stage.go, host.go) runs entirely on the host. It resolves the user (package account), writes the
//     marker (package markers), follows the command (follow.go) with its processes (package tree) and its output
//     (output.go), and stores the result beside the marker before it reports it. The container's log is its standard
//     output, so no other process can delay or lose a line.
//   - The shim (shim.go, launch.go) becomes the command. It switches to the user, groups and directory, resets signals,
//     reports whether all that worked, and waits at a gate while the host stage writes the marker. So a wrong order is
//     reported before anything is marked, and nothing is executed before the marker is on the disk.
//
// Each process holds a pipe to the next. When a process dies, by any signal, the next one reads the end of its pipe:
// the shim at its gate never executes, and the host stage ends all processes of the command.
//
// docs/design/hostrun.md describes the limits of a command, and why it is a whole tree of processes.
//
// The operator decides who may run which command where, and when.
package hostrun

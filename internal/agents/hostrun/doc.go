// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostrun runs one command on the host of its pod, at most once, and reports the result. The pod is privileged
// and has hostPID. Its image contains only this binary.
//
// Three processes of the same binary share the work, because each can do what the other two cannot:
//
//   - The runner (runner.go, relay.go) stays in the container. It reads the order (package hostjob) and the Secrets,
//     starts the host stage in the namespaces of process 1 of the host (package hostns), and writes the result to the
//     container's termination message. The kubelet watches and signals this process.
//   - The host stage (stage.go, host.go) runs entirely on the host. It resolves the user (package account), writes a
//     marker file that records the start (package markers), and follows the command (follow.go), its processes (package
//     tree) and its output (package output). It stores the result next to the marker before it reports the result. Its
//     standard output is the container's log, so no other process can delay or lose a line.
//   - The shim (shim.go, launch.go) becomes the command. It switches to the user, groups and directory, resets signals,
//     reports whether all that worked, and waits while the host stage writes the marker. A wrong order is therefore
//     reported before there is a marker, and the command is executed only after the marker is on disk.
//
// Each process holds a pipe to the next one. When a process dies, even by SIGKILL, the next process sees the end of its
// pipe. Then the shim does not execute the command, and the host stage kills all processes of the command.
//
// docs/design/hostrun.md describes the limits of a command, and why opcrew handles the whole tree of its processes.
//
// The operator decides who may run which command, where and when.
package hostrun

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostrun runs one command on the host of its pod, at most once, and says what
// became of it. The pod has hostPID and is privileged; nothing but this binary is in it.
//
// Three processes of the same binary share the work, because each can do what the others
// cannot:
//
//   - The runner (runner.go) stays in the container. It reads the order (package hostjob) and the
//     Secrets, enters the namespaces of the host's first process with one thread (enter.go),
//     starts the host stage from there, and writes the result (package hostjob) to the container's
//     termination message. It is what the kubelet sees and signals.
//   - The host stage (host.go) is wholly on the host: root directory, processes, network. It
//     resolves the user (user.go, passwd.go, getent.go), takes the marker (markers.go), follows
//     the command (follow.go), its processes (family.go, tree.go) and its output (output.go),
//     and puts the result beside the marker before anybody hears of it. The container's log
//     is its standard output, so that no relay can hold up or lose a line.
//   - The shim (shim.go, launch.go) becomes the command: it takes on user, groups, directory
//     and a clean state of signals, reports whether all that worked, and waits at a gate. The
//     marker is taken while it waits. So whatever is wrong with an order is told while
//     nothing is marked, and nothing is executed before the marker is on the disk.
//
// Each holds a pipe to the next. When one dies, by whatever signal, the next one reads the
// end of its pipe: the shim at its gate never executes, the host stage ends all processes.
//
// The command is the whole tree of processes: the host stage is its subreaper, so that
// those that fork twice or begin a session of their own stay below it. When the command
// has ended, what it left behind is ended too. What it asked a daemon of the host to do
// (systemd-run, a container engine) is the daemon's, and goes on.
//
// A command runs within the pod's cgroup, so the pod's limits of memory, CPU and processes
// apply to it, and an out-of-memory kill can hit the runner with it. Resource limits
// (ulimit) are those that the container runtime gives to the pod, not those of the user's
// logins. Root has the capabilities of the pod; other users have those that executables give.
//
// What does not live here: who may run what where, and when. That belongs to the operator.
package hostrun

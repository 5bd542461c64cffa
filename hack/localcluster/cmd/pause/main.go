// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command pause is the first process of every pod sandbox. It holds the pod's namespaces open until it gets a
// termination signal.
//
// In a pod with a shared process namespace, pause is also process 1, and the kernel makes it the parent of every
// orphan. Therefore it reaps processes that it did not start.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		reap()
	}
}

// reap reaps all children that have ended, because the kernel may send one signal for several children.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}

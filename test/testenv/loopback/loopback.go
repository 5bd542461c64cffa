// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loopback gives tests addresses of this machine on which nothing listens, for processes whose address is
// configured. A port that was free a moment ago would not do: the kernel may give it to another connection.
package loopback

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

const (
	// hostsEach is the number of hosts that a process has for itself, and processes the number of such processes.
	// Together they cover the 2^24 loopback hosts, without the first block, which contains 127.0.0.1.
	hostsEach = 1 << 10
	processes = 1<<14 - 1
	// port is below the kernel's range of ephemeral ports.
	port = 7379
)

var given atomic.Int32

// Host returns an unused IP address of the loopback network, which no other call or process gets.
func Host() string {
	n := (os.Getpid()%processes+1)*hostsEach + int(given.Add(1))%(hostsEach-1)
	return fmt.Sprintf("127.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
}

// Address returns a host:port with an unused host.
func Address() string { return net.JoinHostPort(Host(), fmt.Sprint(port)) }

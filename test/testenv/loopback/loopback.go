// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loopback gives tests addresses of this machine at which nothing listens, for processes that are configured where to
// listen. A port that was free a moment ago is not such a one: the kernel gives it to the next connection of anybody.
package loopback

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

const (
	// hostsEach is how many hosts a process has, and processes how many have hosts of their own: 2^24 in all, without the
	// first, among which is 127.0.0.1.
	hostsEach = 1 << 10
	processes = 1<<14 - 1
	// port is below those that the kernel gives to connections.
	port = 7379
)

var given atomic.Int32

// Host is an IP address of the loopback network that was given to no one else, here or in another process.
func Host() string {
	n := (os.Getpid()%processes+1)*hostsEach + int(given.Add(1))%(hostsEach-1)
	return fmt.Sprintf("127.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
}

// Address is a host:port of such a host.
func Address() string { return net.JoinHostPort(Host(), fmt.Sprint(port)) }

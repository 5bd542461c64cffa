// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package loopback provides addresses of this machine on which nothing listens, for processes whose address must be
// configured in advance. A port that is unused now is not enough, because the kernel may give it to another connection.
package loopback

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

const (
	// hostsEach is the number of IP addresses that each test process can use. processes is the number of such
	// processes. Together they cover the 2^24 loopback addresses, except for the first block, which contains 127.0.0.1.
	hostsEach = 1 << 10
	processes = 1<<14 - 1
	// port is lower than the ports that the kernel assigns automatically.
	port = 7379
)

var given atomic.Int32

// Host returns an unused IP address of the loopback network. No other call and no other process gets the same address.
func Host() string {
	n := (os.Getpid()%processes+1)*hostsEach + int(given.Add(1))%(hostsEach-1)
	return fmt.Sprintf("127.%d.%d.%d", n>>16&0xff, n>>8&0xff, n&0xff)
}

// Address returns an address of the form host:port, with a host that Host returns.
func Address() string { return net.JoinHostPort(Host(), fmt.Sprint(port)) }

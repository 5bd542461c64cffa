// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/redisserver"
)

const (
	// firstPort and lastPort are the range of FreePort. These ports and their cluster bus ports are below the ports
	// that the kernel assigns to connections.
	firstPort, lastPort = 10000, 19999
	// portsEach is the approximate number of ports that one test process uses.
	portsEach = 50
)

var ports atomic.Int32

// FreePort returns a free port that no other test uses, and whose cluster bus port is free too. It reserves the port,
// because packages are tested concurrently, and a server starts to listen some time after its port was chosen.
func FreePort(t testing.TB) int {
	t.Helper()
	for range lastPort - firstPort {
		n := os.Getpid()*portsEach + int(ports.Add(1))
		port := firstPort + n%(lastPort-firstPort+1)
		if reserve(t, port) && free(port) && free(port+redisserver.BusOffset) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// reserve locks a file for the port until the test ends, and reports whether that succeeded.
func reserve(t testing.TB, port int) bool {
	t.Helper()
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("opcrew-ports-%d", os.Getuid()))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(folder, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) // the kernel also releases the lock when the process ends
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func free(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"
)

// island is a network namespace that can reach only the API server, through a port of its loopback interface. It
// simulates a laptop with a kubeconfig but without a route to any pod.
type island struct {
	kubeconfig string
	calls      chan func()
}

// newIsland creates a network namespace from which only the API server can be reached. It exists until the test ends.
func newIsland(t *testing.T, c *cluster) *island {
	t.Helper()
	i := &island{calls: make(chan func())}
	go i.live()
	t.Cleanup(func() { close(i.calls) })
	var listener net.Listener
	i.do(func() {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Errorf("create a network namespace: %v", err)
			return
		}
		if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			t.Errorf("set the loopback interface up: %v: %s", err, out)
			return
		}
		var err error
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() { listener.Close() })
	server, err := url.Parse(c.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	go ferry(listener, server.Host)
	i.kubeconfig = i.writeKubeconfig(t, c, listener.Addr().String(), server.Hostname())
	return i
}

// live calls functions on one thread, which is the only thread in the network namespace. The thread stays locked to its
// goroutine, so that it ends with the goroutine.
func (i *island) live() {
	runtime.LockOSThread()
	for call := range i.calls {
		call()
	}
}

// do calls a function on the thread in the network namespace. Programs that the function starts also run in the
// namespace.
func (i *island) do(call func()) {
	done := make(chan struct{})
	i.calls <- func() {
		defer close(done)
		call()
	}
	<-done
}

// ferry forwards connections from a listener in the network namespace to an address outside.
func ferry(from net.Listener, to string) {
	for {
		conn, err := from.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			other, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer other.Close()
			go func() {
				defer other.Close()
				_, _ = io.Copy(other, conn)
			}()
			_, _ = io.Copy(conn, other)
		}()
	}
}

// writeKubeconfig copies the cluster's kubeconfig, and replaces the address of the API server in the copy.
func (i *island) writeKubeconfig(t *testing.T, c *cluster, address, name string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(filepath.Join(c.root, "bin", "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range config.Clusters {
		known.Server, known.TLSServerName = "https://"+address, name
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// reaches returns an error unless a TCP connection from the network namespace to the address succeeds.
func (i *island) reaches(address string) (err error) {
	i.do(func() {
		var conn net.Conn
		if conn, err = net.DialTimeout("tcp", address, 2*time.Second); err == nil {
			conn.Close()
		}
	})
	return err
}

// start runs a program in the network namespace until the test ends. It returns the path of the file with the program's
// output.
func (i *island) start(t *testing.T, c *cluster, name string, args ...string) (output string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.root, log, log
	cmd.Env = append(os.Environ(), "KUBECONFIG="+i.kubeconfig)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	i.do(func() { err = cmd.Start() })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGINT) // like Ctrl-C, send the signal to make and its children
		if err := cmd.Wait(); err != nil {
			t.Logf("%s ended: %v", name, err)
		}
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			fmt.Fprintf(os.Stderr, "%s said:\n%s", name, text[max(0, len(text)-8000):])
		}
	})
	return log.Name()
}

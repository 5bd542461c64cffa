// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package nettest gives tests a small network of real network namespaces: hosts on one link, with IPv4 and IPv6, that
// exchange real packets. It needs root.
package nettest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Network is one link to which all its hosts are connected.
type Network struct {
	name  string
	hosts int
}

// Host is a network namespace with addresses on the link.
type Host struct {
	space  string
	V4, V6 string
	// File is the open network namespace.
	File *os.File
}

// New returns a network. It skips the test if the test does not run as root.
func New(t *testing.T) *Network {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this test needs root, because it creates network namespaces")
	}
	for _, tool := range []string{"ip", "nft"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("this test needs the program %s", tool)
		}
	}
	n := &Network{name: fmt.Sprintf("oc%x", time.Now().UnixNano()&0xfffffff)}
	n.space(t, n.name)
	n.run(t, n.name, "ip", "link", "add", "name", "switch", "type", "bridge")
	n.run(t, n.name, "ip", "link", "set", "switch", "up")
	return n
}

func (n *Network) space(t *testing.T, name string) {
	t.Helper()
	n.run(t, "", "ip", "netns", "add", name)
	t.Cleanup(func() { n.run(t, "", "ip", "netns", "del", name) })
	n.run(t, name, "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0") // a new address is not usable for seconds otherwise
	n.run(t, name, "ip", "link", "set", "lo", "up")
}

// Host adds a host to the link.
func (n *Network) Host(t *testing.T) *Host {
	t.Helper()
	n.hosts++
	h := &Host{space: fmt.Sprint(n.name, "-", n.hosts), V4: fmt.Sprint("10.77.0.", n.hosts), V6: fmt.Sprintf("fd77::%x", n.hosts)}
	n.space(t, h.space)
	n.run(t, h.space, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", fmt.Sprint("port", n.hosts), "netns", n.name)
	n.run(t, n.name, "ip", "link", "set", fmt.Sprint("port", n.hosts), "master", "switch", "up")
	n.run(t, h.space, "ip", "link", "set", "eth0", "up")
	n.run(t, h.space, "ip", "address", "add", h.V4+"/24", "dev", "eth0")
	n.run(t, h.space, "ip", "address", "add", h.V6+"/64", "dev", "eth0", "nodad")
	h.open(t)
	return h
}

// Pod adds a pod to a host: a namespace behind the host, with addresses that only the host reaches directly.
func (n *Network) Pod(t *testing.T, h *Host) *Host {
	t.Helper()
	p := &Host{space: h.space + "-pod", V4: "10.88.0.2", V6: "fd88::2"}
	n.space(t, p.space)
	n.run(t, p.space, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "pod0", "netns", h.space)
	for _, side := range []struct{ space, link, v4, v6 string }{{p.space, "eth0", p.V4, p.V6}, {h.space, "pod0", "10.88.0.1", "fd88::1"}} {
		n.run(t, side.space, "ip", "link", "set", side.link, "up")
		n.run(t, side.space, "ip", "address", "add", side.v4+"/24", "dev", side.link)
		n.run(t, side.space, "ip", "address", "add", side.v6+"/64", "dev", side.link, "nodad")
	}
	n.run(t, p.space, "ip", "route", "add", "default", "via", "10.88.0.1")
	n.run(t, p.space, "ip", "route", "add", "default", "via", "fd88::1")
	for _, key := range []string{"net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"} {
		h.Run(t, "sysctl", "-qw", key)
	}
	p.open(t)
	return p
}

func (h *Host) open(t *testing.T) {
	t.Helper()
	file, err := os.Open("/run/netns/" + h.space)
	if err != nil {
		t.Fatal(err)
	}
	h.File = file
	t.Cleanup(func() { file.Close() })
}

// Run runs a program on the host, and returns its output.
func (h *Host) Run(t *testing.T, argv ...string) string {
	t.Helper()
	return run(t, "", append([]string{"ip", "netns", "exec", h.space}, argv...)...)
}

// Load loads an nft script.
func (h *Host) Load(t *testing.T, script string) {
	t.Helper()
	run(t, script, "ip", "netns", "exec", h.space, "nft", "-f", "-")
}

func (n *Network) run(t *testing.T, space string, argv ...string) {
	t.Helper()
	if space != "" {
		argv = append([]string{"ip", "netns", "exec", space}, argv...)
	}
	run(t, "", argv...)
}

func run(t *testing.T, input string, argv ...string) string {
	t.Helper()
	command := exec.Command(argv[0], argv[1:]...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// inside calls a function on a thread in the network namespace of the host.
func (h *Host) inside(do func() error) error {
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine, because it stays in the namespace
		if err := unix.Setns(int(h.File.Fd()), unix.CLONE_NEWNET); err != nil {
			failed <- err
			return
		}
		failed <- do()
	}()
	return <-failed
}

// Serve answers on a port, over TCP and UDP and both families, until the test ends.
func (h *Host) Serve(t *testing.T, port int) {
	t.Helper()
	err := h.inside(func() error {
		for _, network := range []string{"tcp4", "tcp6"} {
			l, err := (&net.ListenConfig{}).Listen(context.Background(), network, fmt.Sprint(":", port))
			if err != nil {
				return err
			}
			t.Cleanup(func() { l.Close() })
			go answer(l)
		}
		for _, network := range []string{"udp4", "udp6"} {
			l, err := (&net.ListenConfig{}).ListenPacket(context.Background(), network, fmt.Sprint(":", port))
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = l.Close() })
			go echo(l)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Listen returns a listener on the host.
func (h *Host) Listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	var out net.Listener
	err := h.inside(func() (err error) {
		out, err = (&net.ListenConfig{}).Listen(context.Background(), network, address)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ReadFile reads a file of /proc as a process on the host sees it.
func (h *Host) ReadFile(path string) ([]byte, error) {
	var out []byte
	err := h.inside(func() (err error) {
		out, err = os.ReadFile(path)
		return err
	})
	return out, err
}

// DialContext connects from the host.
func (h *Host) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	err := h.inside(func() (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

func answer(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			buffer := make([]byte, 64)
			for {
				n, err := conn.Read(buffer)
				if err != nil {
					return
				}
				if _, err := conn.Write(buffer[:n]); err != nil {
					return
				}
			}
		}()
	}
}

func echo(l net.PacketConn) {
	buffer := make([]byte, 64)
	for {
		n, from, err := l.ReadFrom(buffer)
		if err != nil {
			return
		}
		_, _ = l.WriteTo(buffer[:n], from)
	}
}

// patience is how long a packet may take. A dropped packet is not repeated in this time.
const patience = 300 * time.Millisecond

// Open opens a connection that an answer has confirmed; nil if there is no answer.
func (h *Host) Open(network, address string, port int) net.Conn {
	var conn net.Conn
	err := h.inside(func() (err error) {
		conn, err = (&net.Dialer{Timeout: patience}).Dial(network, net.JoinHostPort(address, fmt.Sprint(port)))
		return err
	})
	if err != nil {
		return nil
	}
	if !Answers(conn) {
		conn.Close()
		return nil
	}
	return conn
}

// Answers reports whether the other side answers on a connection.
func Answers(conn net.Conn) bool {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return false
	}
	if _, err := conn.Write([]byte("x")); err != nil {
		return false
	}
	_, err := conn.Read(make([]byte, 1))
	return err == nil
}

// Reaches reports whether a new connection to an address gets an answer.
func (h *Host) Reaches(network, address string, port int) bool {
	conn := h.Open(network, address, port)
	if conn == nil {
		return false
	}
	conn.Close()
	return true
}

// Pings reports whether a host answers an echo request.
func (h *Host) Pings(address string) bool {
	network, request := "ip4:icmp", []byte{8, 0, 0xf7, 0xfd, 0, 1, 0, 1}
	if strings.Contains(address, ":") {
		network, request = "ip6:ipv6-icmp", []byte{128, 0, 0, 0, 0, 1, 0, 1} // the kernel fills in the checksum
	}
	answered := false
	_ = h.inside(func() error {
		conn, err := net.Dial(network, address)
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := conn.Write(request); err != nil {
			return err
		}
		buffer := make([]byte, 64)
		for !answered {
			n, err := conn.Read(buffer)
			if err != nil {
				return err
			}
			answered = n > 20 && buffer[0]>>4 == 4 && buffer[20] == 0 || n > 0 && buffer[0] == 129
		}
		return nil
	})
	return answered
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package etcdclient

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/e2e/etcd"
)

// trio runs three etcd members on this machine, without the program that opcrew uses to start etcd in pods. So nothing
// checks the members' data directories before etcd starts.
type trio struct {
	program string
	dir     string
	clients []string
	peers   []string
	members [3]*exec.Cmd
}

func newTrio(t *testing.T, version string) *trio {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	bin, err := etcd.Build(t.Context(), root, version)
	if err != nil {
		t.Fatal(err)
	}
	c := &trio{program: filepath.Join(bin, "etcd"), dir: t.TempDir()}
	for range c.members {
		c.clients, c.peers = append(c.clients, freeURL(t)), append(c.peers, freeURL(t))
	}
	t.Cleanup(func() {
		for i := range c.members {
			c.end(i)
		}
	})
	for i := range c.members {
		c.start(t, i)
	}
	return c
}

// freeURL returns a URL on the loopback interface with an unused port.
func freeURL(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func (c *trio) data(i int) string { return filepath.Join(c.dir, fmt.Sprint("m", i)) }

func (c *trio) start(t *testing.T, i int) {
	t.Helper()
	var initial []string
	for j, peer := range c.peers {
		initial = append(initial, fmt.Sprintf("m%d=%s", j, peer))
	}
	m := exec.CommandContext(context.WithoutCancel(t.Context()), c.program, "--name", fmt.Sprint("m", i), "--data-dir", c.data(i),
		"--listen-client-urls", c.clients[i], "--advertise-client-urls", c.clients[i],
		"--listen-peer-urls", c.peers[i], "--initial-advertise-peer-urls", c.peers[i],
		"--initial-cluster", strings.Join(initial, ","), "--initial-cluster-state", "new", "--initial-cluster-token", "trio")
	m.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	c.members[i] = m
}

func (c *trio) signal(i int, s syscall.Signal) { _ = c.members[i].Process.Signal(s) }

func (c *trio) end(i int) {
	if c.members[i] == nil {
		return
	}
	c.signal(i, syscall.SIGKILL)
	_ = c.members[i].Wait()
}

func (c *trio) client(t *testing.T) *Client {
	t.Helper()
	k, err := Start(t.Context(), Options{URLs: c.clients, Prefix: "opcrew/", Patience: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestRealMembersThatStopCrashAndComeBackViolateNothing(t *testing.T) {
	for _, version := range etcd.Releases() {
		if etcd.FromDebian(version) {
			continue
		}
		t.Run(version, func(t *testing.T) {
			c := newTrio(t, version)
			k := c.client(t)
			for i := range c.members {
				c.signal(i, syscall.SIGSTOP)
				time.Sleep(3 * time.Second) // longer than an election takes
				c.signal(i, syscall.SIGCONT)
				c.end(i)
				time.Sleep(time.Second)
				c.start(t, i)
			}
			report, violations := k.Stop(time.Minute)
			t.Log(report)
			if len(violations) > 0 || len(report.Failed) > 0 || report.Writes < 100 {
				t.Errorf("expected many writes, all served, and no violation; got %v, %s", report.Failed, strings.Join(violations, "\n"))
			}
		})
	}
}

// TestASecondHistoryIsFound shows what etcd does if two of three members lose their data: it starts a second history.
// For this reason, opcrew checks the directories of members before etcd starts.
func TestASecondHistoryIsFound(t *testing.T) {
	c := newTrio(t, etcd.V36)
	k := c.client(t)
	time.Sleep(2 * time.Second)
	for i := range c.members {
		c.end(i)
	}
	for i := range 2 {
		if err := os.RemoveAll(c.data(i)); err != nil {
			t.Fatal(err)
		}
		c.start(t, i)
	}
	report, violations := k.Stop(20 * time.Second)
	t.Log(report)
	for _, words := range []string{"was not one value at a time", "was answered, then"} {
		wantFound(t, violations, words)
	}
}

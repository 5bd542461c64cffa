// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// machine is a host outside the cluster: an SSH server that executes commands in a shell. Fields change how it does
// that.
type machine struct {
	t        *testing.T
	home     string
	shell    []string
	listener net.Listener
	host     ssh.Signer
	user     ssh.Signer
	// serve, if set, handles the execution of a command instead of the shell. It returns the exit status.
	serve func(channel ssh.Channel, line string) int
	// executions counts the commands that the server got.
	executions atomic.Int32

	mu    sync.Mutex
	conns []net.Conn
}

const ordinaryUser = 65534

func newKey(t *testing.T) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "test")
	if err != nil {
		t.Fatal(err)
	}
	return signer, pem.EncodeToMemory(block)
}

// newMachine starts an SSH server. Its user is an ordinary one with a home directory of its own.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, shell: []string{"/bin/sh"}}
	m.home = openTemp(t)
	m.host, _ = newKey(t)
	m.listen("127.0.0.1:0")
	return m
}

// openTemp returns a directory that the ordinary user can write.
func openTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sshrun-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		if err := os.Chown(dir, ordinaryUser, ordinaryUser); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (m *machine) listen(address string) {
	m.t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		m.t.Fatal(err)
	}
	m.listener = listener
	m.t.Cleanup(m.cut)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			m.mu.Lock()
			m.conns = append(m.conns, conn)
			m.mu.Unlock()
			go m.accept(conn)
		}
	}()
}

// cut closes the server and all connections.
func (m *machine) cut() {
	_ = m.listener.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, conn := range m.conns {
		_ = conn.Close()
	}
	m.conns = nil
}

// again starts the server again at the same address.
func (m *machine) again() { m.listen(m.listener.Addr().String()) }

func (m *machine) accept(conn net.Conn) {
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if m.user != nil && string(key.Marshal()) == string(m.user.PublicKey().Marshal()) {
			return nil, nil
		}
		return nil, errors.New("another key")
	}}
	config.AddHostKey(m.host)
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for channel := range channels {
		accepted, requests, err := channel.Accept()
		if err != nil {
			return
		}
		go m.session(accepted, requests)
	}
}

func (m *machine) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	for request := range requests {
		if request.Type != "exec" {
			_ = request.Reply(false, nil)
			continue
		}
		_ = request.Reply(true, nil)
		m.executions.Add(1)
		line := string(request.Payload[4:])
		serve := m.serve
		if serve == nil {
			serve = m.execute
		}
		go func() {
			status := serve(channel, line)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
			_ = channel.Close()
		}()
	}
}

// execute executes a command as sshd does.
func (m *machine) execute(channel ssh.Channel, line string) int {
	cmd := m.command(line)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 255
	}
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	if err := cmd.Start(); err != nil {
		_, _ = io.WriteString(channel.Stderr(), err.Error())
		return 127
	}
	_, _ = io.Copy(in, channel)
	_ = in.Close()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// command returns the login shell of the user with a command.
func (m *machine) command(line string) *exec.Cmd {
	cmd := exec.Command(m.shell[0], append(m.shell[1:], "-c", line)...)
	cmd.Dir = m.home
	cmd.Env = []string{"HOME=" + m.home, "USER=ordinary", "LOGNAME=ordinary", "SHELL=" + m.shell[0], "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}
	}
	return cmd
}

// address returns the host and the port of the server.
func (m *machine) address() (string, string) {
	host, port, _ := net.SplitHostPort(m.listener.Addr().String())
	return host, port
}

// known returns the line of known_hosts for a key of the server.
func (m *machine) known(key ssh.PublicKey) string {
	return knownhosts.Line([]string{m.listener.Addr().String()}, key) + "\n"
}

func (m *machine) file(name string) string { return filepath.Join(m.home, name) }

func (m *machine) pid(file string) int {
	text, err := os.ReadFile(m.file(file))
	if err != nil {
		m.t.Fatal(err)
	}
	n, err := strconv.Atoi(string(text[:len(text)-1]))
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

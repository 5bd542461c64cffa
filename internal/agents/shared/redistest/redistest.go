// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redistest starts real servers in tests, in the way that a pod does: by the helper's
// own code, with Secrets and a volume. It has nothing that pretends to be a server.
package redistest

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/redisserver"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/test/testenv/repo"
)

const (
	// ProgramVar names the server program that tests run, instead of bin/redis-server.
	ProgramVar = "OPCREW_REDIS_SERVER"

	// Username is the users' in every pod.
	Username = "demo@redislabs.com"
	// Password is theirs.
	Password = "users' own"
	// SystemPassword is that of the operator's user. It needs quoting in a configuration.
	SystemPassword = `sys"tem\ $1`

	subcommand = "redis-server"
)

// Main is for the TestMain of packages whose tests start pods: the program that the tests are
// in is the helper too.
func Main(m *testing.M) int {
	if len(os.Args) < 2 || os.Args[1] != subcommand {
		return m.Run()
	}
	o, err := redisserver.ParseFlags(os.Args[2:], os.Stdout)
	if err == nil {
		err = redisserver.Run(context.Background(), o, slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// Pod has what servers start from.
type Pod struct {
	testing.TB
	Dir, Secrets string
	Path         string // where servers are looked for
	Home, Guest  *Server
}

// New makes a pod whose servers do not run yet.
func New(t testing.TB) *Pod {
	t.Helper()
	p := &Pod{TB: t, Dir: t.TempDir()}
	p.Secrets = filepath.Join(p.Dir, "secrets")
	p.program()
	p.Accept(Password)
	p.put(redispod.UsernameFile, Username)
	p.put(redispod.PasswordFile, SystemPassword)
	p.Home = &Server{pod: p, place: redisserver.Home, Port: FreePort(t)}
	p.Guest = &Server{pod: p, place: redisserver.Guest, Port: FreePort(t)}
	return p
}

// Accept has the users' Secrets say which passwords are valid.
func (p *Pod) Accept(passwords ...string) {
	p.Helper()
	var hashes []string
	for _, password := range passwords {
		hashes = append(hashes, redispod.Hash(password))
	}
	p.put(redispod.AcceptedFile, strings.Join(hashes, "\n"))
}

func (p *Pod) put(name, text string) {
	p.Helper()
	path := filepath.Join(p.Secrets, name)
	p.must(os.MkdirAll(filepath.Dir(path), 0o700))
	p.must(os.WriteFile(path, []byte(text), 0o600))
}

// program has the PATH of the pod lead to the server under each of its names, so that no other
// one of this machine is taken.
func (p *Pod) program() {
	p.Helper()
	program := os.Getenv(ProgramVar)
	if program == "" {
		program = repo.Path(p, "bin", "redis-server")
	}
	program, err := filepath.Abs(program)
	p.must(err)
	if _, err := os.Stat(program); err != nil {
		if testing.Short() {
			p.Skip("needs a real server")
		}
		p.Fatalf("a real server is needed: run `make bin/redis-server`, or name one in %s: %v", ProgramVar, err)
	}
	path := filepath.Join(p.Dir, "path")
	p.must(os.Mkdir(path, 0o700))
	p.Path = path + ":/usr/bin:/bin" // also for a program that is a script
	for _, name := range []string{"redis-server", "valkey-server"} {
		p.must(os.Symlink(program, filepath.Join(path, name)))
	}
}

func (p *Pod) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

const (
	// firstPort and lastPort are those that FreePort gives: with them and those of their buses below the ones that the
	// kernel gives to connections.
	firstPort, lastPort = 10000, 19999
	// portsEach are about as many as a test takes at a time.
	portsEach = 50
)

var ports atomic.Int32

// FreePort is one that nothing listens at, nor at that of its bus, and that no other test was given: packages run at the same
// time, and a server starts to listen a while after its port was chosen.
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

// reserve locks a file that stands for the port until the test has ended, and reports whether it could.
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
	t.Cleanup(func() { _ = file.Close() }) // the kernel ends the lock, too, where the process ends
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func free(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

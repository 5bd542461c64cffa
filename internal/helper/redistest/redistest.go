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
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/helper/redissecrets"
	"github.com/opcrew/opcrew/internal/helper/redisserver"
	"github.com/opcrew/opcrew/internal/helper/resp"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	// ProgramVar names the server program that tests run, instead of bin/redis-server.
	ProgramVar = "OPCREW_REDIS_SERVER"

	// Username and Password are the users' of every pod.
	Username, Password = "demo@redislabs.com", "users' own"
	// SystemPassword is that of the operator's user. It needs quoting in a configuration.
	SystemPassword = `sys"tem\ $1`

	subcommand = "redis-server"
	patience   = 30 * time.Second
	// maxPort leaves room for the port of the bus.
	maxPort = 1<<16 - 1 - redisserver.BusOffset
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

// Server is one of the two of a pod, which may run or not.
type Server struct {
	pod     *Pod
	place   redisserver.Place
	Port    int
	process *exec.Cmd
}

// New makes a pod whose servers do not run yet.
func New(t testing.TB) *Pod {
	t.Helper()
	p := &Pod{TB: t, Dir: t.TempDir()}
	p.Secrets = filepath.Join(p.Dir, "secrets")
	p.program()
	p.Accept(Password)
	p.put(redissecrets.UsernameFile, Username)
	p.put(redissecrets.PasswordFile, SystemPassword)
	p.Home = &Server{pod: p, place: redisserver.Home, Port: FreePort(t)}
	p.Guest = &Server{pod: p, place: redisserver.Guest, Port: FreePort(t)}
	return p
}

// Accept has the users' Secrets say which passwords are valid.
func (p *Pod) Accept(passwords ...string) {
	p.Helper()
	var hashes []string
	for _, password := range passwords {
		hashes = append(hashes, redissecrets.Hash(password))
	}
	p.put(redissecrets.AcceptedFile, strings.Join(hashes, "\n"))
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
		program = filepath.Join("..", "..", "..", "bin", "redis-server")
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

// FreePort is one that nothing listens at, for the moment, nor at that of its bus.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		_ = listener.Close()
		if port > maxPort {
			port -= redisserver.BusOffset
		}
		if free(port) && free(port+redisserver.BusOffset) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func free(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// Start runs the helper, which becomes the server, and waits until that answers.
func (s *Server) Start(flags ...string) {
	s.pod.Helper()
	s.Launch(flags...)
	s.Eventually("the server answers", func() error {
		_, err := s.ask("PING")
		return err
	})
}

// Launch is Start without waiting.
func (s *Server) Launch(flags ...string) {
	s.pod.Helper()
	self, err := os.Executable()
	s.pod.must(err)
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	s.pod.must(err)
	defer log.Close()
	s.process = exec.Command(self, append([]string{subcommand,
		"--place=" + string(s.place), "--port=" + strconv.Itoa(s.Port), "--data=" + s.pod.Dir, "--secrets=" + s.pod.Secrets,
		"--config=" + filepath.Join(s.pod.Dir, string(s.place)+".conf"), "--announce-ip=127.0.0.1",
	}, flags...)...)
	s.process.Env = []string{"PATH=" + s.pod.Path}
	s.process.Stdout, s.process.Stderr = log, log
	s.pod.must(s.process.Start())
	process := s.process
	s.pod.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
}

// Stop ends the server with a signal and waits for its end.
func (s *Server) Stop(signal syscall.Signal) {
	s.pod.Helper()
	s.pod.must(s.process.Process.Signal(signal))
	s.Ends()
}

// Ends waits until the server has ended, and returns its exit code.
func (s *Server) Ends() int {
	s.pod.Helper()
	impatient := time.AfterFunc(patience, func() { _ = s.process.Process.Kill() })
	_ = s.process.Wait() // how it ended is in the state
	if !impatient.Stop() {
		s.pod.Fatalf("expected the server to end within %s:\n%s", patience, s.Log())
	}
	return s.process.ProcessState.ExitCode()
}

// Folder is where the server has its data.
func (s *Server) Folder() string { return filepath.Join(s.pod.Dir, string(s.place)) }

func (s *Server) logFile() string { return s.Folder() + ".log" }

// Log is what the server has printed.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logFile())
	s.pod.must(err)
	return string(text)
}

// Address is where the server listens.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Do asks the server something as the operator's user, and fails the test when it refuses.
func (s *Server) Do(args ...string) string {
	s.pod.Helper()
	answer, err := s.ask(args...)
	if err != nil {
		s.pod.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, s.Log())
	}
	return answer
}

func (s *Server) ask(args ...string) (string, error) {
	return s.As(redissecrets.System, SystemPassword, args...)
}

// As asks the server something as some user.
func (s *Server) As(user, password string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := resp.Dial(ctx, s.Address())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := conn.Do(ctx, "AUTH", user, password); err != nil {
		return "", err
	}
	return conn.Do(ctx, args...)
}

// Eventually waits for what a test expects of the server.
func (s *Server) Eventually(expectation string, check func() error) {
	s.pod.Helper()
	eventually.True(s.pod, patience, expectation, check)
}

// Until waits for an answer that contains a word.
func (s *Server) Until(word string, args ...string) {
	s.pod.Helper()
	s.Eventually(strings.Join(args, " ")+" tells "+word, func() error {
		answer, err := s.ask(args...)
		if err == nil && !strings.Contains(answer, word) {
			err = fmt.Errorf("it tells %q", answer)
		}
		return err
	})
}

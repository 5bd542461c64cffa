// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/opcrew/opcrew/internal/agents/redisserver"
	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// Patience is for how long a busy machine may need; nothing waits for it to pass.
const Patience = 2 * time.Minute

// Server is one of the two of a pod, which may run or not.
type Server struct {
	pod     *Pod
	place   redisserver.Place
	Port    int
	process *exec.Cmd
}

// Start runs the helper, which becomes the server, waits until that answers, and lets replicas copy it, as the operator
// does.
func (s *Server) Start(flags ...string) {
	s.pod.Helper()
	s.StartBarred(flags...)
	s.Do("ACL", "SETUSER", redispod.System, "+psync", "+sync")
	s.Do("CONFIG", "REWRITE")
}

// StartBarred is Start without the last.
func (s *Server) StartBarred(flags ...string) {
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
	impatient := time.AfterFunc(Patience, func() { _ = s.process.Process.Kill() })
	_ = s.process.Wait() // how it ended is in the state
	if !impatient.Stop() {
		s.pod.Fatalf("expected the server to end within %s:\n%s", Patience, s.Log())
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
	return s.As(redispod.System, SystemPassword, args...)
}

// As asks the server something as some user.
func (s *Server) As(user, password string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
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
	eventually.True(s.pod, Patience, expectation, check)
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

// Replicate makes the server a replica of another, and waits until both know it and data flows.
// One MEET may introduce only one side: a handshake ends after the node timeout, so it is repeated.
func (s *Server) Replicate(primary *Server) {
	s.pod.Helper()
	self, other := s.Do("CLUSTER", "MYID"), primary.Do("CLUSTER", "MYID")
	s.Eventually("both servers list each other", func() error {
		if strings.Contains(s.Do("CLUSTER", "NODES"), other) && strings.Contains(primary.Do("CLUSTER", "NODES"), self) {
			return nil
		}
		s.Do("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(primary.Port))
		return errors.New("one does not know the other")
	})
	s.Do("CLUSTER", "REPLICATE", other)
	s.Until("master_link_status:up", "INFO", "replication")
	primary.Until(" slave "+other, "CLUSTER", "NODES")
}

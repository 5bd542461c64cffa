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

// Patience is a timeout for slow machines. A successful test never waits that long.
const Patience = 2 * time.Minute

// Server is one of the two servers of a Pod, running or not.
type Server struct {
	volume  *volume
	place   redisserver.Place
	Port    int
	process *exec.Cmd
}

// Start runs the agent, which becomes the server, and waits until the server responds. Then it allows replicas to copy
// the server, as the operator does.
func (s *Server) Start(flags ...string) {
	s.volume.Helper()
	s.StartBlocked(flags...)
	s.Do("ACL", "SETUSER", redispod.System, "+psync", "+sync")
	s.Do("CONFIG", "REWRITE")
}

// StartBlocked is like Start, but does not allow replicas to copy the server.
func (s *Server) StartBlocked(flags ...string) {
	s.volume.Helper()
	s.Launch(flags...)
	s.Eventually("the server answers", func() error {
		_, err := s.ask("PING")
		return err
	})
}

// Launch runs the agent without waiting for the server.
func (s *Server) Launch(flags ...string) {
	s.volume.Helper()
	self, err := os.Executable()
	s.volume.must(err)
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	s.volume.must(err)
	defer log.Close()
	s.process = exec.Command(self, append([]string{subcommand,
		"--place=" + string(s.place), "--port=" + strconv.Itoa(s.Port), "--data=" + s.volume.Dir, "--secrets=" + s.volume.Secrets,
		"--config=" + filepath.Join(s.volume.Dir, string(s.place)+".conf"), "--announce-ip=127.0.0.1",
	}, flags...)...)
	s.process.Env = []string{"PATH=" + s.volume.Path}
	s.process.Stdout, s.process.Stderr = log, log
	s.volume.must(s.process.Start())
	process := s.process
	s.volume.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
}

// Stop sends a signal to the server, and waits until the server has ended.
func (s *Server) Stop(signal syscall.Signal) {
	s.volume.Helper()
	s.volume.must(s.process.Process.Signal(signal))
	s.Ends()
}

// Ends waits until the server has ended, and returns its exit code.
func (s *Server) Ends() int {
	s.volume.Helper()
	impatient := time.AfterFunc(Patience, func() { _ = s.process.Process.Kill() })
	_ = s.process.Wait() // ProcessState contains the result
	if !impatient.Stop() {
		s.volume.Fatalf("expected the server to end within %s:\n%s", Patience, s.Log())
	}
	return s.process.ProcessState.ExitCode()
}

// Folder returns the data directory of the server.
func (s *Server) Folder() string { return filepath.Join(s.volume.Dir, string(s.place)) }

func (s *Server) logFile() string { return s.Folder() + ".log" }

// Log returns the output of the server.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logFile())
	s.volume.must(err)
	return string(text)
}

// Address returns the address of the server.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Do sends a command as the operator's user. The test fails if the server returns an error.
func (s *Server) Do(args ...string) string {
	s.volume.Helper()
	answer, err := s.ask(args...)
	if err != nil {
		s.volume.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, s.Log())
	}
	return answer
}

func (s *Server) ask(args ...string) (string, error) {
	return s.As(redispod.System, SystemPassword, args...)
}

// As sends a command as another user.
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

// Eventually waits until check returns no error.
func (s *Server) Eventually(expectation string, check func() error) {
	s.volume.Helper()
	eventually.True(s.volume, Patience, expectation, check)
}

// Until repeats a command until the response contains a word.
func (s *Server) Until(word string, args ...string) {
	s.volume.Helper()
	s.Eventually(strings.Join(args, " ")+" returns "+word, func() error {
		answer, err := s.ask(args...)
		if err == nil && !strings.Contains(answer, word) {
			err = fmt.Errorf("it returns %q", answer)
		}
		return err
	})
}

// Replicate makes the server a replica of another server, and waits until both servers list each other and the replica
// has copied the data. It repeats CLUSTER MEET, because the servers drop a handshake that does not succeed within the
// node timeout.
func (s *Server) Replicate(primary *Server) {
	s.volume.Helper()
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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/test/testenv/repo"
)

const secret = "s3cret"

// server is a real Redis server and its data directory.
type server struct {
	place   redis.Place
	pod     int
	dir     string
	address string
	// ran holds the data directory and the address of the last run.
	ran string
	cmd *exec.Cmd
}

// redisBinary returns the path in OPCREW_REDIS_SERVER, or bin/redis-server. On Debian, get it with apt-get install
// redis-server, or download and unpack that package (apt-get download, dpkg -x).
func redisBinary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a Redis server")
	}
	path := os.Getenv("OPCREW_REDIS_SERVER")
	if path == "" {
		path = repo.Path(t, "bin", "redis-server")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: have a Redis of version 7.0 or later there, or name one by OPCREW_REDIS_SERVER", path)
	}
	return path
}

// start runs the server at an address until it is stopped or the test ends.
func (s *server) start(t *testing.T, host string) {
	t.Helper()
	port := "6379"
	if s.place == redis.Guest {
		port = "6380"
	}
	s.address = host + ":" + port
	rights := "+@all -psync -sync" // no replica may copy a new server, as in a real pod
	if s.ran == s.dir+s.address {
		rights = "+@all"
	}
	s.ran = s.dir + s.address
	config := filepath.Join(t.TempDir(), "redis.conf")
	if err := os.WriteFile(config, []byte(s.config(host, port, rights)), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(filepath.Dir(s.dir), string(s.place)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(redisBinary(t), config)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			tail, _ := os.ReadFile(log.Name()) // without an error check, because the file may not exist
			t.Logf("the %s of pod %d ended with:\n%s", s.place, s.pod, tail[max(0, len(tail)-2500):])
		}
	})
}

// config returns the content of redis.conf. Servers sync acknowledged writes to disk, because with everysec, a server
// with a busy disk may lose two seconds of writes when it is killed (aof.c, flushAppendOnlyFile).
func (s *server) config(host, port, rights string) string {
	return strings.Join([]string{
		"bind " + host, "port " + port, "dir " + s.dir, "protected-mode no",
		"cluster-enabled yes", "cluster-config-file nodes.conf", "cluster-node-timeout 2000",
		"cluster-require-full-coverage no", "cluster-allow-replica-migration no",
		"cluster-replica-validity-factor 1000000", "cluster-announce-ip " + host,
		"appendonly yes", "appendfsync always", `save ""`, "maxmemory 256mb", "maxmemory-policy noeviction",
		"repl-diskless-sync-delay 0",
		"user default on >" + secret + " ~* &* +@all", "user opcrew on >" + secret + " ~* &* " + rights,
		"masteruser opcrew", "masterauth " + secret, "",
	}, "\n")
}

// stop kills the server without a warning.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // the server may have ended already
	_ = s.cmd.Wait()         // Wait returns an error, because the server was killed
	s.cmd = nil
}

// wipe deletes the server's data directory.
func (s *server) wipe(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.ran = ""
}

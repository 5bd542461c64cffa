// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/test/testenv/loopback"
	"github.com/opcrew/opcrew/test/testenv/repo"
)

// server is a real etcd process.
type server struct {
	name, peer, client string
	dir                string
	// version selects a release of etcd; "" selects the etcd binary that other tests use.
	version string
	// flags are additional flags for etcd.
	flags []string
	cmd   *exec.Cmd
	log   string
}

// etcdBinary returns the path of etcd in KUBEBUILDER_ASSETS, or else in the project's build directory.
func etcdBinary(t *testing.T) string {
	t.Helper()
	path := repo.Path(t, "bin", "kube")
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		path = filepath.Join(assets, "etcd")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: run `make test`, or `make bin/kube` to build only that", path)
	}
	return path
}

// release returns the path of the etcd binary of a release. It skips the test if make e2e has not built this binary.
func release(t *testing.T, version string) string {
	t.Helper()
	path := repo.Path(t, "bin", "etcd", version, "etcd")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs releases of etcd, which `make e2e` builds: %v", err)
	}
	return path
}

func newServer(t *testing.T, name string) *server {
	t.Helper()
	return &server{name: name, peer: "http://" + loopback.Address(), client: "http://" + loopback.Address(), dir: t.TempDir()}
}

// start runs etcd until the test ends.
func (s *server) start(t *testing.T, state string, initial ...*server) {
	t.Helper()
	var flag []string
	for _, other := range initial {
		flag = append(flag, other.name+"="+other.peer)
	}
	binary := etcdBinary(t)
	if s.version != "" {
		binary = release(t, s.version)
	}
	s.cmd = exec.Command(binary)
	s.cmd.Args = []string{
		"etcd", "--name=" + s.name, "--data-dir=" + s.dir,
		"--listen-peer-urls=" + s.peer, "--initial-advertise-peer-urls=" + s.peer,
		"--listen-client-urls=" + s.client, "--advertise-client-urls=" + s.client,
		"--initial-cluster=" + strings.Join(flag, ","), "--initial-cluster-state=" + state, "--initial-cluster-token=tok",
	}
	s.cmd.Args = append(s.cmd.Args, s.flags...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr, s.log = log, log, log.Name()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			tail, _ := os.ReadFile(log.Name()) // the file may not exist
			t.Logf("%s ended with:\n%s", s.name, tail[max(0, len(tail)-3000):])
		}
	})
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill() // the process may have ended already
	_ = s.cmd.Wait()         // the error only reports that the process was killed
}

// end terminates etcd gracefully, so that it writes its data to the disk.
func (s *server) end(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // an error only reports the signal that ended etcd
}

func targetOf(servers ...*server) etcd.Target {
	var out etcd.Target
	for _, s := range servers {
		out.Endpoints = append(out.Endpoints, s.client)
	}
	return out
}

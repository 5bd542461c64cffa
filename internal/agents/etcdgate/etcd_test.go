// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package etcdgate

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/loopback"
	"github.com/opcrew/opcrew/test/testenv/repo"
)

// realEtcd returns the command line of a real etcd. Its program is in the directory KUBEBUILDER_ASSETS. If this
// variable is not set, the program is bin/kube of this repository, which runs etcd when it is called by the name etcd.
func (m *member) realEtcd(others ...string) []string {
	m.Helper()
	program := repo.Path(m, "bin", "kube")
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		program = filepath.Join(assets, "etcd")
	}
	program, err := filepath.Abs(program)
	must(m.T, err)
	if _, err := os.Stat(program); err != nil {
		m.Fatal("an etcd is needed: run `make bin/kube`")
	}
	etcd := filepath.Join(m.dir, "etcd")
	must(m.T, os.Symlink(program, etcd))
	m.o.Metrics = "http://" + loopback.Address()
	client, peer := "http://"+m.o.Client, "http://"+loopback.Address()
	return []string{
		etcd, "--name", m.o.Member, "--data-dir", m.o.DataDir, "--listen-metrics-urls", m.o.Metrics,
		"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", strings.Join(append(others, m.o.Member+"="+peer), ","), "--initial-cluster-token", m.o.Cluster,
	}
}

// Without the gate (this package), etcd would start on the emptied data directory without an error.
func TestAWipedMemberIsRefusedThatEtcdWouldStart(t *testing.T) {
	m := newMember(t)
	m.command = m.realEtcd()
	m.allow(etcdstart.Bootstrap)
	r := m.start()
	m.answers("/livez", 200, "ok")
	m.answers("/readyz", 200, `"true"`)
	r.stop()
	r = m.start() // a member that has its log may start, whatever the operator allows
	m.answers("/readyz", 200, `"true"`)
	r.stop()

	must(t, os.RemoveAll(m.o.DataDir))
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost) // the pod still has the old permission
	m.allow(etcdstart.Established)
	must(t, os.Remove(m.o.Latch))
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost)
	if _, err := os.Stat(m.o.DataDir); !os.IsNotExist(err) {
		t.Errorf("expected the directory to stay as it is, got %v", err)
	}
	must(t, os.Remove(m.o.Marker))
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost)

	m.bare()
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeForeign)
}

// bare starts etcd directly, without the gate (the program of this package), and waits until etcd is healthy.
func (m *member) bare() {
	m.Helper()
	etcd := exec.Command(m.command[0], m.command[1:]...)
	must(m.T, etcd.Start())
	defer func() {
		_ = etcd.Process.Kill()
		_ = etcd.Wait()
	}()
	eventually.True(m.T, patience, "etcd starts with the empty directory", func() error {
		answer, err := http.Get(m.o.Metrics + "/health")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		return demand(answer.StatusCode == http.StatusOK, answer.Status)
	})
}

func (r *running) stop() {
	r.Helper()
	r.signal(syscall.SIGTERM)
	r.ends(signalBase+int(syscall.SIGTERM), "") // etcd ends itself with this signal if it is not process 1
}

// A member without a quorum cannot serve clients, but killing it would not help.
func TestAMemberWithoutAQuorumIsAliveAndNotReady(t *testing.T) {
	m := newMember(t)
	m.command = m.realEtcd("main-lost=http://" + loopback.Address())
	m.allow(etcdstart.Bootstrap)
	r := m.start()
	m.answers("/livez", 200, "ok\n")
	m.allow(etcdstart.Established)
	m.answers("/readyz", 503, "")
	m.answers("/livez", 200, "ok\n")
	r.stop()
}

// hasLog and etcd must agree on which directories contain no log, because in such a directory, etcd starts from
// scratch.
func TestEtcdAgreesOnWhatALogIs(t *testing.T) {
	m := newMember(t)
	m.command = m.realEtcd()
	must(t, put(filepath.Join(m.o.DataDir, "member/wal.tmp/0000000000000000-0000000000000000.wal"), "x"))
	must(t, put(filepath.Join(m.o.DataDir, "member/wal/0.tmp"), "x"))
	m.allow(etcdstart.Established)
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost)
	m.allow(etcdstart.Join)
	r := m.start()
	m.answers("/livez", 200, "ok")
	m.allow(etcdstart.Established)
	m.answers("/readyz", 200, `"true"`)
	r.stop()

	segments, err := filepath.Glob(filepath.Join(m.o.DataDir, "member/wal/*.wal"))
	must(t, err)
	for _, segment := range segments {
		must(t, os.Truncate(segment, 0))
	}
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost)
	m.allow(etcdstart.Bootstrap)
	must(t, os.Remove(m.o.Latch))
	r = m.start()
	_ = r.cmd.Wait()
	if r.cmd.ProcessState.ExitCode() == 0 {
		t.Errorf("expected etcd to refuse empty files as a log, got %s", m.log())
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package etcdgate

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestARefusalIsReportedAndEtcdIsNotStarted(t *testing.T) {
	m := newMember(t)
	message := m.start().ends(etcdstart.RefusedCode, etcdstart.NoAuthorisation)
	if !strings.Contains(message, "start: no such file") {
		t.Errorf("the message is %q", message)
	}
	must(t, put(m.o.Start, "")) // a kubelet writes this if the annotation is missing
	m.start().ends(etcdstart.RefusedCode, etcdstart.NoAuthorisation)
	m.allow(etcdstart.Established)
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost)
	if m.ran() {
		t.Error("expected etcd not to be started")
	}
	if _, err := os.Stat(m.o.Marker); !os.IsNotExist(err) {
		t.Errorf("expected nothing on the volume, got %v", err)
	}
}

func TestARefusalThatCannotBeReportedStillHolds(t *testing.T) {
	m := newMember(t)
	m.allow(etcdstart.Established)
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost)
	must(t, os.Remove(m.o.Termination))
	must(t, os.Mkdir(m.o.Termination, 0o700))
	r := m.launch()
	_ = r.cmd.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != etcdstart.RefusedCode || m.ran() || !strings.Contains(m.log(), "write the termination message") {
		t.Errorf("exit code %d, etcd was started: %v, log %s", code, m.ran(), m.log())
	}
}

func TestAMemberStartsAgainOnItsVolumeAndOnNoOther(t *testing.T) {
	m := newMember(t, "--exit", "0")
	m.allow(etcdstart.Join)
	m.start().ends(0, "")
	m.allow(etcdstart.Established)
	m.start().ends(0, "")
	m.o.Member = "main-ffffffffff"
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeForeign)
	m.o.Member = ours().Member
	must(t, os.Rename(m.o.DataDir, m.o.DataDir+".gone"))
	m.start().ends(etcdstart.RefusedCode, etcdstart.VolumeLost)
	must(t, os.Rename(m.o.DataDir+".gone", m.o.DataDir))
	m.start().ends(0, "")
}

func TestTheEndOfEtcdIsPassedOn(t *testing.T) {
	m := newMember(t, "--exit", "42", "--say", "first line\n"+strings.Repeat("a long line ", 200)+"\nlast words")
	m.allow(etcdstart.Bootstrap)
	message := m.start().ends(42, etcdstart.EtcdEnded)
	if message != "etcd ended with exit code 42: last words" {
		t.Errorf("the message is %q", message)
	}
	if log := m.log(); !strings.Contains(log, "output\n") || !strings.Contains(log, "first line\n") || !strings.Contains(log, "last words\n") {
		t.Errorf("expected the whole output of etcd in the log, got %s", log)
	}
}

func TestASignalThatEndsEtcdIsPassedOn(t *testing.T) {
	m := newMember(t, "--die", "--say", "last words")
	m.allow(etcdstart.Bootstrap)
	message := m.start().ends(signalBase+int(syscall.SIGKILL), etcdstart.EtcdEnded)
	if message != "etcd was killed by signal 9 (killed): last words" {
		t.Errorf("the message is %q", message)
	}
}

func TestAnEtcdThatCannotBeExecutedIsReported(t *testing.T) {
	m := newMember(t)
	m.allow(etcdstart.Bootstrap)
	m.command = []string{"/none/etcd"}
	message := m.start().ends(notExecutedCode, etcdstart.EtcdEnded)
	if !strings.HasPrefix(message, "etcd cannot be executed: ") || !strings.Contains(message, "/none/etcd") {
		t.Errorf("the message is %q", message)
	}
}

func TestTheEndOfThePodWaitsForEtcd(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		m := newMember(t)
		m.allow(etcdstart.Bootstrap)
		r := m.start()
		m.says("output")
		r.signal(s)
		m.says("ending")
		r.signal(syscall.SIGTERM) // a restarted kubelet sends the signal again
		r.ends(0, "")
		if !strings.Contains(m.log(), "ended, signals more than one: 0") {
			t.Errorf("%s: expected etcd to have time to end, got %s", s, m.log())
		}
	}
}

func TestEtcdDoesNotOutliveTheGate(t *testing.T) {
	m := newMember(t)
	m.allow(etcdstart.Bootstrap)
	r := m.start()
	m.says("output")
	pid := m.pid()
	r.signal(syscall.SIGKILL)
	_ = r.cmd.Wait()
	eventually.True(t, patience, "etcd is dead", func() error {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return demand(err != nil || strings.Contains(string(text), ") Z "), string(text))
	})
	// The next start continues at the step at which the previous start was interrupted.
	m.allow(etcdstart.Established)
	r = m.start()
	m.says("output")
	r.signal(syscall.SIGTERM)
	r.ends(0, "")
}

func TestNothingStartsWithoutProbes(t *testing.T) {
	m := newMember(t)
	m.o.Listen = "256.0.0.1:1"
	m.allow(etcdstart.Bootstrap)
	m.start().ends(1, "")
	if m.ran() {
		t.Error("expected etcd not to be started")
	}
}

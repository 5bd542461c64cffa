// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sysctl

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestAFileIsReadAsTheBootReadsIt(t *testing.T) {
	for line, want := range map[string]Setting{
		"":                                   {},
		"# a = b":                            {},
		"; a = b":                            {},
		"net.ipv4.ip_forward=1":              {Name: "net/ipv4/ip_forward", Value: "1"},
		"net/ipv4/ip_forward = 1":            {Name: "net/ipv4/ip_forward", Value: "1"},
		"net.ipv4.conf.eth0/1.rp_filter = 2": {Name: "net/ipv4/conf/eth0.1/rp_filter", Value: "2"},
		"net/ipv4/conf/eth0.1/rp_filter = 2": {Name: "net/ipv4/conf/eth0.1/rp_filter", Value: "2"},
		"  -a.b =  1\t 2   3 ":               {Name: "a/b", Value: "1 2 3", Optional: true},
		"-net.ipv4.conf.all.rp_filter":       {},
		"net.ipv4.conf.*.rp_filter = 2":      {Name: "net/ipv4/conf/*/rp_filter", Value: "2", Pattern: true},
		"kernel.core_pattern=|/bin/x %P=1":   {Name: "kernel/core_pattern", Value: "|/bin/x %P=1"},
	} {
		if got, err := parseLine(strings.TrimSpace(line)); err != nil || got != want {
			t.Errorf("%q: expected %+v, got %+v and %v", line, want, got, err)
		}
	}
	for _, line := range []string{"net.ipv4.ip_forward", "= 1", "a..b = 1", "../x = 1", "/a = 1", "a b = 1", "a/../b = 1"} {
		if _, err := Parse("a = 1\n" + line + "\n"); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: expected an error that names the line, got %v", line, err)
		}
	}
}

func TestTheLastFileByNameWins(t *testing.T) {
	got, err := Merge(map[string]string{"/etc/sysctl.d/20-b.conf": "a = 2", "/etc/sysctl.d/10-a.conf": "a = 1\nb = 1\n*.c = 1", "/etc/sysctl.conf": "d = 9", "/etc/sysctl.d/98.conf": "d = 8"})
	want := map[string]Setting{"a": {Name: "a", Value: "2"}, "b": {Name: "b", Value: "1"}, "d": {Name: "d", Value: "9"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("expected the values that the boot sets, got %v, %s", err, diff)
	}
	if _, err := Merge(map[string]string{"/etc/sysctl.d/20-b.conf": "a"}); err == nil || !strings.Contains(err.Error(), "20-b.conf: line 1") {
		t.Errorf("expected an error with file and line, got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-net.ipv4.conf.eth0/1.rp_filter = 1 2\n")
	f.Fuzz(func(t *testing.T, content string) {
		settings, err := Parse(content)
		for _, s := range settings {
			if strings.HasPrefix(s.Name, "/") || strings.Contains("/"+s.Name+"/", "/../") {
				t.Errorf("%q leaves the directory of parameters (%v)", s.Name, err)
			}
		}
	})
}

// TestTheKernelOfTheMachineKeepsItsValues uses a network namespace of its own, so that the machine does not notice.
func TestTheKernelOfTheMachineKeepsItsValues(t *testing.T) {
	done := make(chan struct{})
	go func() { // the thread ends with the goroutine, because it stays locked
		defer close(done)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Logf("this test needs root: %v", err)
			return
		}
		for name, value := range map[string]string{"net/ipv4/ip_forward": "1", "net/ipv4/ip_local_port_range": "20000 30000"} {
			before, found, err := Proc{}.Get(name)
			if err != nil || !found {
				t.Errorf("expected %s to be readable, got %v", name, err)
			}
			if err := (Proc{}).Set(name, value); err != nil {
				t.Errorf("expected %s to be set, got %v", name, err)
			}
			if got, _, err := (Proc{}).Get(name); got != value || err != nil {
				t.Errorf("expected %s to be %q instead of %q, got %q and %v", name, value, before, got, err)
			}
		}
		if _, found, err := (Proc{}).Get("net/ipv4/no_such"); found || err != nil {
			t.Errorf("expected a missing parameter to be no error, got %v", err)
		}
		if _, _, err := (Proc{}).Get("../../etc/passwd"); err == nil {
			t.Error("expected a path outside to be refused")
		}
	}()
	<-done
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	hostName = "the-host"
	noShell  = "without a shell"
	chrooted = "whose root directory is not that of its mount namespace"
)

// machine simulates a host: a process with its own namespaces and root directory. A pod sees it as process 1 of its
// host.
type machine struct {
	t    *testing.T
	proc string // directory with process 1 of the simulated host, in the /proc of the test
}

// newMachine creates a simulated host. If the test lacks the privileges for that, newMachine skips the test.
func newMachine(t *testing.T, how string) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to create the namespaces of a host")
	}
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, firstOfHost, how)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP,
		Pdeathsig:  syscall.SIGKILL,
	}
	ready, err := cmd.StdoutPipe()
	must(t, err)
	if err := cmd.Start(); errors.Is(err, fs.ErrPermission) {
		t.Skip("needs the right to create namespaces")
	} else {
		must(t, err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	if text, err := io.ReadAll(io.LimitReader(ready, 6)); string(text) != "ready\n" {
		t.Fatalf("the host does not start: %q, %v", text, err)
	}
	return &machine{t, fmt.Sprintf("/proc/%d", cmd.Process.Pid)}
}

// path returns the path at which the test finds a file of the machine.
func (m *machine) path(path string) string { return m.proc + "/root" + path }

// pod returns a pod that sees the processes of the machine, like a pod with hostPID.
func (m *machine) pod() *pod {
	p := newPod(m.t)
	p.proc, p.markers = m.path("/proc"), "/var/lib/opcrew/activities"
	p.order.User, p.order.Dir = "root", "/"
	return p
}

// beHost runs as process 1 of a machine. The root directory of the machine contains the programs of the real host, and
// files of the machine.
func beHost(how string) error {
	err := errors.Join(makeRoot(how), unix.Sethostname([]byte(hostName)))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for { // process 1 must reap orphaned processes
		if _, err := syscall.Wait4(-1, nil, 0, nil); errors.Is(err, syscall.ECHILD) {
			_ = unix.Pause()
		}
	}
}

func makeRoot(how string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	steps := []error{
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("tmpfs", root, "tmpfs", 0, "mode=0755"),
		os.Chdir(root),
	}
	for _, dir := range []string{"etc", "var/lib", "home/ada", "root/private", "tmp", "proc", "dev", "disk"} {
		steps = append(steps, os.MkdirAll(dir, 0o755))
	}
	for _, dir := range []string{"bin", "sbin", "lib", "lib64", "usr"} {
		if how != noShell || dir != "bin" {
			steps = append(steps, borrow(dir))
		}
	}
	enter := func() error {
		return errors.Join(unix.PivotRoot(".", "."), unix.Unmount(".", unix.MNT_DETACH))
	}
	if how == chrooted {
		enter = func() error { return unix.Chroot(".") }
	}
	steps = append(steps,
		os.Chmod("root/private", 0o700), os.Chmod("tmp", 0o777), os.Chown("home/ada", 1234, 5678),
		os.WriteFile("etc/passwd", []byte("root:x:0:0::/root:/bin/sh\nada:x:1234:5678::/home/ada:/bin/dash\n"), 0o644),
		os.WriteFile("etc/group", []byte("root:x:0:\nada:x:5678:\nwheel:x:10:ada\naudio:x:63:bob,ada\n"), 0o644),
		os.WriteFile("dev/null", nil, 0o666), unix.Mount("/dev/null", "dev/null", "", unix.MS_BIND, ""),
		unix.Mount("proc", "proc", "proc", 0, ""), os.Symlink("/proc/self/fd/2", "dev/stderr"),
		enter(), os.Chdir("/"),
	)
	return errors.Join(steps...)
}

// borrow mounts a directory of the real host into the machine, read-only.
func borrow(dir string) error {
	info, err := os.Lstat("/" + dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink("/" + dir)
		return errors.Join(err, os.Symlink(target, dir))
	}
	return errors.Join(os.Mkdir(dir, 0o755), unix.Mount("/"+dir, dir, "", unix.MS_BIND|unix.MS_REC, ""),
		unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
}

func TestAHostIsEnteredEntirely(t *testing.T) {
	for _, how := range []string{"like others", chrooted} {
		t.Run(how, func(t *testing.T) { isEnteredEntirely(t, newMachine(t, how)) })
	}
}

func isEnteredEntirely(t *testing.T, m *machine) {
	t.Helper()
	p := m.pod()
	r := p.run(`uname -n; pwd; echo here >/tmp/file; for ns in mnt pid uts ipc net cgroup; do [ $(readlink /proc/$$/ns/$ns) = $(readlink /proc/1/ns/$ns) ] || echo not in $ns; done; ls -d /disk`)
	if r.State != hostjob.Succeeded || r.Tail != hostName+"\n/\n/disk\n" {
		t.Fatalf("expected the namespaces of the host, got %+v", r)
	}
	if text, err := os.ReadFile(m.path("/tmp/file")); string(text) != "here\n" {
		t.Errorf("expected the file on the host, got %q and %v", text, err)
	}
	for path, want := range map[string]fs.FileMode{"/var/lib/opcrew": 0o700 | fs.ModeDir, "/var/lib/opcrew/activities": 0o700 | fs.ModeDir, "/var/lib/opcrew/activities/0f1e-2d3c-1": 0o600, "/var/lib/opcrew/activities/0f1e-2d3c-1.result": 0o600} {
		if info, err := os.Stat(m.path(path)); err != nil || info.Mode() != want {
			t.Errorf("expected %s on the host with mode %v, got %v and %v", path, want, info, err)
		}
	}
	if r := p.run("echo again >/tmp/file"); !r.Again || r.State != hostjob.Succeeded || r.Tail != hostName+"\n/\n/disk\n" {
		t.Errorf("expected the stored result again, got %+v", r)
	}
}

func TestAUserOfTheHostHasOnlyItsGroups(t *testing.T) {
	m := newMachine(t, "")
	for _, user := range []string{"ada", "1234"} {
		p := m.pod()
		p.order.User, p.order.Dir, p.order.UID = user, "/home/ada", "u-"+user
		r := p.run(`id -u; id -G; pwd; echo $HOME $USER $SHELL; echo mine >file; echo err >/dev/stderr; grep -hE 'Cap(Inh|Prm|Eff|Amb)|NoNew' /proc/$$/status | tr -d '\n'; cat /root/private/x 2>&1`)
		want := "1234\n5678 10 63\n/home/ada\n/home/ada ada /bin/dash\nerr\n" +
			"CapInh:\t0000000000000000CapPrm:\t0000000000000000CapEff:\t0000000000000000CapAmb:\t0000000000000000NoNewPrivs:\t0cat: /root/private/x: Permission denied\n"
		if r.Tail != want {
			t.Errorf("expected %q, got %q", want, r.Tail)
		}
		info, err := os.Stat(m.path("/home/ada/file"))
		must(t, err)
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 1234 || stat.Gid != 5678 || info.Mode().Perm() != 0o644 {
			t.Errorf("expected a file of the user, got %+v", stat)
		}
	}
}

// A host can have users in a directory service, which only getent finds.
func TestAUserOfADirectoryServiceIsFound(t *testing.T) {
	m := newMachine(t, "")
	must(t, os.Mkdir(m.path("/tmp/none"), 0o755))
	getent := `#!/bin/sh
echo "$@" >>/tmp/asked
case "$*" in
"passwd -- eve") echo "eve:x:4444:5555:Eve:/tmp/none:/bin/sh" ;;
"passwd -- 4444") echo "eve:x:4444:5555:Eve:/tmp/none:/bin/sh" ;;
"passwd -- +0") echo "root:x:0:0::/:/bin/sh" ;;
"initgroups -- eve") echo "eve                   5555 77 88" ;;
"passwd -- slow") exit 3 ;;
*) exit 2 ;;
esac
`
	must(t, os.WriteFile(m.path("/tmp/getent"), []byte(getent), 0o755))
	bind(t, m, "/tmp/getent", "/usr/bin/getent")
	for _, test := range []struct{ user, tail, reason string }{
		{"eve", "4444\n5555 77 88\n/tmp/none\n", hostjob.ReasonExited},
		{"4444", "4444\n5555 77 88\n/tmp/none\n", hostjob.ReasonExited},
		{"+0", "", hostjob.ReasonUnknownUser},
		{"mallory", "", hostjob.ReasonUnknownUser},
		{"root;id", "", hostjob.ReasonUnknownUser},
		{"slow", "", hostjob.ReasonUserLookup},
	} {
		p := m.pod()
		p.order.User, p.order.UID = test.user, "u-"+strings.Trim(test.user, "+;")
		p.order.UID = strings.ReplaceAll(p.order.UID, ";", "")
		if r := p.run("id -u; id -G; echo $HOME"); r.Tail != test.tail || r.Reason != test.reason {
			t.Errorf("%s: expected %q, %s, got %+v", test.user, test.tail, test.reason, r)
		}
	}
	asked, err := os.ReadFile(m.path("/tmp/asked"))
	must(t, err)
	if !strings.Contains(string(asked), "passwd -- root;id\n") {
		t.Errorf("expected the name to be one argument, got %s", asked)
	}
}

// bind mounts one file of the machine over another.
func bind(t *testing.T, m *machine, from, to string) {
	t.Helper()
	p := m.pod()
	p.order.UID = "bind"
	p.order.Args = []string{"mount", "--bind", from, to}
	p.expect(p.run(""), hostjob.Succeeded, hostjob.ReasonExited, "")
}

func TestARefusalOfTheHostIsReportedBeforeTheMarkerIsTaken(t *testing.T) {
	m := newMachine(t, "")
	p := m.pod()
	p.order.User, p.order.Dir = "ada", "/root/private"
	p.expect(p.run("id"), hostjob.NotStarted, hostjob.ReasonDirectory, `user "ada" cannot enter "/root/private": permission denied`)
	p.order.Dir, p.order.Args = "/home/ada", []string{"/root/private/program"}
	p.expect(p.run(""), hostjob.NotStarted, hostjob.ReasonNoCommand, `"/root/private/program" that user "ada" can execute: permission denied`)
	p.order.Args = nil
	p.expect(p.run("id -un"), hostjob.Succeeded, hostjob.ReasonExited, "")
}

func TestAHostWithoutAShellIsReported(t *testing.T) {
	m := newMachine(t, noShell)
	p := m.pod()
	p.expect(p.run("id"), hostjob.NotStarted, hostjob.ReasonNoShell, "the host has no /bin/sh")
	p.order.Args = []string{"id", "-u"}
	if r := p.run(""); r.Tail != "0\n" {
		t.Errorf("expected a command without a shell to run, got %+v", r)
	}
}

func TestADiskThatCannotBeWrittenExecutesNothing(t *testing.T) {
	m := newMachine(t, "")
	p := m.pod()
	p.order.Args = []string{"mount", "-t", "tmpfs", "-o", "ro", "none", "/disk"}
	p.expect(p.run(""), hostjob.Succeeded, hostjob.ReasonExited, "")
	p = m.pod()
	p.markers = "/disk/activities"
	p.expect(p.run("echo >/tmp/ran"), hostjob.NotStarted, hostjob.ReasonNoMarker, "read-only file system")
	p.markers = "/disk"
	p.expect(p.run("echo >/tmp/ran"), hostjob.NotStarted, hostjob.ReasonNoMarker, "read-only file system")
	if _, err := os.Stat(m.path("/tmp/ran")); err == nil {
		t.Error("expected nothing to be executed")
	}
}

func TestAResultThatCannotBeStoredIsStillReported(t *testing.T) {
	m := newMachine(t, "")
	p := m.pod()
	p.order.Args = []string{"mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", "/disk"}
	p.expect(p.run(""), hostjob.Succeeded, hostjob.ReasonExited, "")
	p = m.pod()
	p.markers = "/disk"
	p.expect(p.run("yes >/disk/fill; echo full"), hostjob.Succeeded, hostjob.ReasonExited, "the result could not be stored on the host: ")
	p.expect(p.run("echo >/tmp/ran"), hostjob.Unknown, hostjob.ReasonNoResult, "left no result")
	p.order.Run = 2
	p.expect(p.run("echo >/tmp/ran"), hostjob.NotStarted, hostjob.ReasonNoMarker, "no space left on device")
	if _, err := os.Stat(m.path("/tmp/ran")); err == nil {
		t.Error("expected nothing to be executed")
	}
}

// The runner, the process in the container, starts the host stage, the process on the host. Their PID namespaces
// differ, so only the end of the pipe between them shows the host stage that the runner has ended.
func TestWhenTheRunnerIsKilledNothingIsLeftOnTheHost(t *testing.T) {
	m := newMachine(t, "")
	p := m.pod()
	p.order.Dir = "/tmp"
	c := p.start("echo >pids; " + stubborn + "sleep 100")
	eventually.True(t, patience, "the command runs", func() error {
		_, err := os.Stat(m.path("/tmp/ready"))
		return err
	})
	must(t, c.cmd.Process.Kill())
	eventually.True(t, patience, "only the first process is left on the host", func() error {
		pids, err := filepath.Glob(m.path("/proc/[1-9]*"))
		if err == nil && len(pids) != 1 {
			err = fmt.Errorf("there are %d processes", len(pids))
		}
		return err
	})
}

func TestACancelReachesTheHost(t *testing.T) {
	m := newMachine(t, "")
	p := m.pod()
	p.order.User, p.order.Dir, p.order.GraceSeconds = "ada", "/home/ada", 1
	c := p.start("echo >pids; " + stubborn + "sleep 100")
	eventually.True(t, patience, "the command runs", func() error {
		_, err := os.Stat(m.path("/home/ada/ready"))
		return err
	})
	must(t, c.cmd.Process.Signal(syscall.SIGTERM))
	p.expect(c.result(), hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled, and the command was killed by SIGTERM")
	if pids, err := filepath.Glob(m.path("/proc/[1-9]*")); err != nil || len(pids) != 1 {
		t.Errorf("expected nothing but the first process on the host, got %v (%v)", pids, err)
	}
}

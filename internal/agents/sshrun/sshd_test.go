// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// newSSHD starts a real sshd, with keys of its own and this user.
func newSSHD(t *testing.T) (*job, *exec.Cmd) {
	t.Helper()
	const path = "/usr/sbin/sshd"
	if _, err := os.Stat(path); err != nil || os.Getuid() != 0 {
		t.Skip("needs root and openssh-server")
	}
	dir := openTemp(t)
	m := &machine{t: t, home: dir}
	m.host, _ = newKey(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.listener = listener
	_ = listener.Close() // sshd gets its port
	_, port := m.address()
	hostKey := sshKeygen(t, filepath.Join(dir, "host"))
	other := sshKeygen(t, filepath.Join(dir, "other"), "-t", "ecdsa")
	j := newJob(t, m, "")
	sshKeygen(t, filepath.Join(dir, "user"))
	j.key, _ = os.ReadFile(filepath.Join(dir, "user"))
	j.known, j.order.User = m.known(hostKey), "root"
	config := fmt.Sprintf("ListenAddress 127.0.0.1\nPort %s\nHostKey %s/other\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nPermitRootLogin prohibit-password\nPidFile none\nUsePAM no\nBanner /etc/passwd\nMaxSessions 1\n", port, dir, dir, dir)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = other
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-D", "-e", "-f", filepath.Join(dir, "config"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll("/var/lib/opcrew/ssh-activities/" + j.order.UID + "-1")
	})
	j.order.UID = fmt.Sprintf("test-%d", time.Now().UnixNano())
	return j, cmd
}

func sshKeygen(t *testing.T, file string, args ...string) ssh.PublicKey {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", append([]string{"-q", "-N", "", "-f", file}, append([]string{"-t", "ed25519"}, args...)...)...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	text, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestARealSSHDRunsACommandOnce(t *testing.T) {
	j, _ := newSSHD(t)
	j.order.Command, j.order.Envs = "id -un; echo $A; echo x >> "+j.machine.file("ran")+"; exit 7", []string{"A=it's"}
	r := j.run()
	j.want(r, hostjob.Failed, hostjob.ReasonExited, "exited with code 7")
	if r.Tail != "root\nit's\n" {
		t.Errorf("expected the output of the command, got %q", r.Tail)
	}
	if again := j.run(); !again.Again || *again.ExitCode != 7 {
		t.Errorf("expected the stored result, got %+v", again)
	}
	j.ran(1)
}

// This sshd allows one session for each connection, so the signal needs another connection.
func TestARealSSHDEndsACommandAtItsTimeout(t *testing.T) {
	j, _ := newSSHD(t)
	j.order.Command, j.order.TimeoutSeconds = "echo $$ > "+j.machine.file("child")+"; sleep 1000", 1
	j.want(j.run(), hostjob.TimedOut, hostjob.ReasonDeadline, "exited with code 143")
	j.wantGone("child")
}

func TestARealSSHDWithAnotherKeyGetsNoCommand(t *testing.T) {
	j, _ := newSSHD(t)
	j.order.Command = "echo x >> " + j.machine.file("ran")
	j.known = j.machine.known(j.machine.host.PublicKey())
	r := j.run()
	j.want(r, hostjob.NotStarted, hostjob.ReasonHostKey, "SHA256:", "may be another machine")
	if !strings.Contains(r.Message, "ssh-ed25519") {
		t.Errorf("expected the key of the pinned type, got %q", r.Message)
	}
	j.ran(0)
}

// The processes of the connection are killed, as if the network or the server had failed.
func TestARealSSHDThatDiesLeavesTheResultOfTheCommand(t *testing.T) {
	j, cmd := newSSHD(t)
	j.order.Command = "echo x >> " + j.machine.file("ran") + "; sleep 2; exit 8"
	go func() {
		j.await("ran")
		_ = exec.Command("sh", "-c", fmt.Sprintf("for p in $(ps -o pid= --ppid %d); do kill -9 $p; done", cmd.Process.Pid)).Run()
	}()
	j.want(j.run(), hostjob.Failed, hostjob.ReasonExited, "exited with code 8", "later")
	j.ran(1)
}

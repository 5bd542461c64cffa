// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

func TestACommandRunsInItsDirectoryWithItsVariablesAndNoOthers(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, `pwd; env; echo "$QUOTES"; echo to stderr >&2; exit 3`)
	j.order.Dir = "/usr"
	j.order.Envs = []string{"A=1", "A=2", `QUOTES=it's "so" $HOME ` + "`id`", "IFS=x"}
	j.secrets = map[string]string{"TOKEN": "hunter2hunter2"}
	r := j.run()
	j.want(r, hostjob.Failed, hostjob.ReasonExited, "exited with code 3")
	if r.ExitCode == nil || *r.ExitCode != 3 || r.StartedAt.IsZero() || r.EndedAt.Before(r.StartedAt) {
		t.Errorf("expected the exit code and the times, got %+v", r)
	}
	lines := strings.Split(r.Tail, "\n")
	for _, want := range []string{"/usr", "A=2", "HOME=" + m.home, "USER=ordinary", "TOKEN=***", `it's "so" $HOME ` + "`id`", "to stderr"} {
		if !slices.Contains(lines, want) {
			t.Errorf("expected the line %q in the output, got\n%s", want, r.Tail)
		}
	}
	if strings.Contains(r.Tail+j.log.String(), "hunter2") {
		t.Error("expected the value of the Secret to be masked")
	}
	if j.log.String() != r.Tail {
		t.Errorf("expected the output in the log, got %q", j.log.String())
	}
}

func TestAProgramRunsWithoutAShell(t *testing.T) {
	j := newJob(t, newMachine(t), "")
	j.order.Args = []string{"printf", "%s|", "$HOME", "it's", "", "two\nlines", "-n"}
	r := j.run()
	j.want(r, hostjob.Succeeded, hostjob.ReasonExited)
	if r.Tail != "$HOME|it's||two\nlines|-n|" {
		t.Errorf("expected the arguments unchanged, got %q", r.Tail)
	}
}

func TestEveryLoginShellWillDo(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "bash", "busybox sh", "zsh", "fish", "tcsh"} {
		words := strings.Fields(shell)
		path, err := exec.LookPath(words[0])
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		m := newMachine(t)
		m.shell = append([]string{path}, words[1:]...)
		j := newJob(t, m, "echo it\\'s $0; sleep 0.1; exit 4")
		r := j.run()
		if r.ExitCode == nil || *r.ExitCode != 4 || r.Tail != "it's /bin/sh\n" {
			t.Errorf("%s: expected the command to run, got %+v", shell, r)
		}
	}
}

func TestARunIsExecutedOnceAndItsResultIsKept(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran")+"; exit 5")
	first, second := j.run(), j.run()
	j.want(first, hostjob.Failed, hostjob.ReasonExited)
	j.want(second, hostjob.Failed, hostjob.ReasonExited, "exited with code 5", "later")
	if !second.Again || second.ExitCode == nil || *second.ExitCode != 5 || second.StartedAt.IsZero() {
		t.Errorf("expected the stored result, got %+v", second)
	}
	j.ran(1)
	j.order.Run = 2
	j.want(j.run(), hostjob.Failed, hostjob.ReasonExited)
	j.ran(2)
}

func TestManyRunnersAtOnceExecuteARunOnce(t *testing.T) {
	m := newMachine(t)
	jobs := make([]*job, 6)
	done := make(chan hostjob.Result)
	for i := range jobs {
		jobs[i] = newJob(t, m, "echo x >> "+m.file("ran")+"; sleep 1")
		jobs[i].key = jobs[0].key
	}
	signer, key := newKey(t)
	m.user = signer
	for _, j := range jobs {
		j.key = key
		go func() { done <- j.run() }()
	}
	for range jobs {
		if r := <-done; r.State != hostjob.Succeeded {
			t.Errorf("expected every runner to report the one result, got %+v", r)
		}
	}
	jobs[0].ran(1)
}

func TestWhatTheMachineDoesNotHaveIsReportedAndLeavesNoMarker(t *testing.T) {
	m := newMachine(t)
	for name, c := range map[string]struct {
		change func(*job)
		reason string
		words  string
	}{
		"no directory":      {func(j *job) { j.order.Dir = "/none/there" }, hostjob.ReasonNoDirectory, "db1 (127.0.0.1:"},
		"a closed one":      {func(j *job) { j.order.Dir = "/proc/1/cwd" }, hostjob.ReasonNoDirectory, "has no directory"},
		"no program":        {func(j *job) { j.order.Command, j.order.Args = "", []string{"none-such"} }, hostjob.ReasonNoCommand, "no program none-such"},
		"a read-only name":  {func(j *job) { j.order.Envs = []string{"UID=1"} }, hostjob.ReasonNotExecuted, "variable UID"},
		"code as a name":    {func(j *job) { j.order.Envs = []string{"A;id=1"} }, hostjob.ReasonNotExecuted, "variable A;id"},
		"a damaged key":     {func(j *job) { j.key = []byte("no key") }, hostjob.ReasonSSHFiles, "private key in Secret logins"},
		"damaged host keys": {func(j *job) { j.known = "no line" }, hostjob.ReasonSSHFiles, "known_hosts in Secret logins"},
	} {
		j := newJob(t, m, "true")
		c.change(j)
		t.Log(name)
		j.want(j.run(), hostjob.NotStarted, c.reason, c.words)
	}
	j := newJob(t, m, "true")
	j.want(j.run(), hostjob.Succeeded, hostjob.ReasonExited)
}

func TestALoginShellThatExecutesNothingIsReported(t *testing.T) {
	m := newMachine(t)
	m.shell = []string{"/usr/sbin/nologin"}
	j := newJob(t, m, "true")
	j.want(j.run(), hostjob.NotStarted, hostjob.ReasonNoShell, "login shell of user ordinary")
}

func TestOutputIsCutAndLeftProcessesEnd(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "seq 1 100000; sleep 1000 & echo $! > "+m.file("left"))
	r := j.run()
	j.want(r, hostjob.Succeeded, hostjob.ReasonExited, "left processes behind")
	if !r.Truncated || !strings.HasSuffix(r.Tail, "99999\n100000\n") || r.Bytes < 500_000 {
		t.Errorf("expected the end of the output, got %d bytes that end with %q", r.Bytes, r.Tail[max(0, len(r.Tail)-20):])
	}
	j.wantGone("left")
}

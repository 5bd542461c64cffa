// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"bytes"
	"os"
	"os/user"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/opcrew/opcrew/internal/agents/hostrun/account"
	"github.com/opcrew/opcrew/internal/agents/hostrun/program"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

func TestTheExitCodeOrTheSignalIsReportedWithTheOutput(t *testing.T) {
	for _, test := range []struct {
		command string
		state   hostjob.State
		code    int // -1 means that a signal ended the command
		signal  string
	}{
		{"echo out; echo err >&2", hostjob.Succeeded, 0, ""},
		{"echo out; echo err >&2; exit 3", hostjob.Failed, 3, ""},
		{"echo out; echo err >&2; exit 137", hostjob.Failed, 137, ""},
		{"echo out; echo err >&2; kill -KILL $$", hostjob.Failed, -1, "SIGKILL"},
		{"echo out; echo err >&2; kill -HUP $$", hostjob.Failed, -1, "SIGHUP"},
		{"echo out; echo err >&2; sh -c 'kill -KILL $$'", hostjob.Failed, 137, ""},
	} {
		t.Run(test.command, func(t *testing.T) {
			p := newPod(t)
			before := time.Now().Truncate(time.Millisecond)
			r := p.run(test.command)
			code := -1
			if r.ExitCode != nil {
				code = *r.ExitCode
			}
			if r.State != test.state || code != test.code || r.Signal != test.signal {
				t.Errorf("expected %s, code %d, signal %q, got %+v", test.state, test.code, test.signal, r)
			}
			if !strings.HasPrefix(r.Tail, "out\nerr\n") || r.Tail != p.log() || r.Bytes != int64(len(r.Tail)) || r.Truncated {
				t.Errorf("expected both streams in order, got %+v and log %q", r, p.log())
			}
			if r.StartedAt.Before(before) || r.EndedAt.Before(r.StartedAt) || r.EndedAt.After(time.Now()) || r.BootID == "" || r.Again {
				t.Errorf("expected the times of the run and the boot of the host, got %+v", r)
			}
		})
	}
}

func TestACommandInheritsNothingFromTheContainer(t *testing.T) {
	who, err := user.Current()
	if err != nil {
		t.Skip("needs a user that the machine knows")
	}
	p := newPod(t)
	p.env = []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "GODEBUG=x=y"}
	// The agent must cope with a parent, such as a shell, that ignores or blocks signals and leaves files open.
	p.before = []string{"sh", "-c", `trap "" HUP INT QUIT PIPE TSTP USR1; umask 077; exec 7</dev/null; env --block-signal=USR2 true && exec env --block-signal=USR2 "$@"; exec "$@"`, "sh"}
	p.order.Envs = []string{"A=1", "B=two words"}
	// A builtin of the shell reads the status of the shell itself. An external program would not work, because the
	// shell blocks all signals while it starts one.
	p.order.Args = []string{"sh", "-c", `while read -r key value; do case $key in SigBlk: | SigIgn: | NoNewPrivs:) echo "$key $value" ;; esac; done </proc/$$/status
		env | grep -v ^PWD= | sort; pwd; umask; ls /proc/self/fd; readlink /proc/self/fd/0; ps -o sid= -p $$ | grep -c $$`}
	r := p.run("")
	want := "SigBlk: 0000000000000000\nSigIgn: 0000000000000000\nNoNewPrivs: 0\n" + strings.Join(slices.Sorted(slices.Values([]string{
		"A=1", "B=two words", "HOME=" + who.HomeDir, "LANG=C.UTF-8", "LOGNAME=" + who.Username, "PATH=" + program.Path, "SHELL=" + shellOf(t, who.Uid), "USER=" + who.Username,
		// File 3 is the directory that ls reads. The last 1 is the number of processes in the session.
	})), "\n") + "\n" + p.dir + "\n0022\n0\n1\n2\n3\n/dev/null\n1\n"
	if r.Tail != want {
		t.Errorf("expected no signals blocked or ignored, no lock on privileges, and nothing of the container:\n%s\ngot\n%s", want, r.Tail)
	}
}

func shellOf(t *testing.T, uid string) string {
	t.Helper()
	who, refusal := account.Resolve(uid)
	if refusal != nil {
		t.Fatal(refusal.Message)
	}
	return who.Shell
}

func TestHostileTextIsNeverReadByAShellOfTheAgent(t *testing.T) {
	p := newPod(t)
	p.order.Args = []string{"printf", "%s|", "$(touch owned)", "`touch owned`", "a b\nc", `'"\`, "; touch owned", "-rf", "*", ""}
	p.order.Envs = []string{"X=$(touch owned)\n'\""}
	if r := p.run(""); r.Tail != strings.Join(p.order.Args[2:], "|")+"|" {
		t.Errorf("expected the arguments as they are, got %q", r.Tail)
	}
	p = newPod(t)
	p.order.Dir = p.path("$(touch owned)'\"\n")
	must(t, os.Mkdir(p.order.Dir, 0o755))
	if r := p.run("pwd; echo \"$X\"; cat <<'EOF'\n$(touch owned)'\"\nEOF"); r.Tail != p.order.Dir+"\n\n$(touch owned)'\"\n" {
		t.Errorf("expected the command as it is, got %q", r.Tail)
	}
	p = newPod(t)
	if r := p.run("-c"); r.State != hostjob.Failed || *r.ExitCode != 127 {
		t.Errorf("expected no such command, got %+v", r)
	}
	p = newPod(t)
	if r := p.run("echo " + strings.Repeat("a", 100_000) + " | wc -c"); r.Tail != "100001\n" {
		t.Errorf("expected 100 KB of command to be run, got %q", r.Tail)
	}
}

func TestMuchOutputNeedsLittleMemory(t *testing.T) {
	p := newPod(t)
	c := p.start("yes 0123456789abcde | head -c 20971520; echo the end")
	r := c.result()
	if r.Bytes != 20<<20+8 || !r.Truncated || len(r.Tail) != hostjob.TailSize || !strings.HasSuffix(r.Tail, "\nthe end\n") {
		t.Errorf("expected the end of 20 MiB, got %d bytes and a tail of %d", r.Bytes, len(r.Tail))
	}
	if got := int64(len(p.log())); got != r.Bytes {
		t.Errorf("expected all of the output in the log, got %d bytes", got)
	}
	// The runner has waited for the other two processes of the run, so Maxrss is the maximum over all three.
	if most := c.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; most > 64<<10 {
		t.Errorf("expected at most 64 MiB of memory, got %d KiB", most)
	}
}

func TestOutputOfAnyBytesBecomesText(t *testing.T) {
	p := newPod(t)
	r := p.run(`printf 'a\377\376b\000c\033[31m\303'`)
	if r.Tail != "a\uFFFDb\x00c\x1b[31m\uFFFD" || r.Bytes != 12 {
		t.Errorf("got %q, %d bytes", r.Tail, r.Bytes)
	}
	if p.log() != "a\xff\xfeb\x00c\x1b[31m\xc3" {
		t.Errorf("expected the log to have the same bytes, got %q", p.log())
	}
	p = newPod(t)
	r = p.run("head -c 100000 /dev/urandom")
	if !utf8.ValidString(r.Tail) || r.Bytes != 100_000 || !r.Truncated {
		t.Errorf("expected a tail of text, got %q of %d bytes", r.Tail, r.Bytes)
	}
}

func TestValuesOfSecretsAreMasked(t *testing.T) {
	p := newPod(t)
	p.secret("PASSWORD", "correct horse\nbattery staple\n")
	p.secret("PIN", "123")
	p.order.Envs = []string{"PASSWORD=plain", "PIN=0000"}
	r := p.run(`printf %s "[$PASSWORD][$PIN]" ; printf 'correct ho' ; sleep 0.3; printf 'rse\nbattery staple.' ; printf correct; sleep 0.3; printf ' end'`)
	if want := "[***\n][123]***.correct end"; r.Tail != want || p.log() != want {
		t.Errorf("expected %q, got the tail %q and the log %q", want, r.Tail, p.log())
	}
	if r.Bytes != int64(len("[correct horse\nbattery staple\n][123]correct horse\nbattery staple.correct end")) {
		t.Errorf("expected the unmasked bytes to be counted, got %d", r.Bytes)
	}
	p = newPod(t)
	p.secret("PASSWORD", "hunter2")
	p.order.Args = []string{"/none/hunter2"}
	if r := p.run(""); r.State != hostjob.NotStarted || strings.Contains(r.Message, "hunter2") {
		t.Errorf("expected a message without the value, got %q", r.Message)
	}
	for _, file := range []string{"order.json", "result", "log"} {
		if text, err := os.ReadFile(p.path(file)); err != nil || file != "order.json" && bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("%s has the value: %s (%v)", file, text, err)
		}
	}
}

func TestAnOrderThatCannotBeCarriedOutIsRefusedAndCanBeCorrected(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*pod)
		reason string
		words  string
	}{
		{"no directory", func(p *pod) { p.order.Dir = "/none/there" }, hostjob.ReasonNoDirectory, `no directory "/none/there": no such file or directory`},
		{"a file as directory", func(p *pod) { p.order.Dir = "/etc/passwd" }, hostjob.ReasonNoDirectory, "not a directory"},
		{"a hostile user", func(p *pod) { p.order.User = "root;id" }, hostjob.ReasonUnknownUser, `no user "root;id"`},
		{"an unknown number", func(p *pod) { p.order.User = "3999999999" }, hostjob.ReasonUnknownUser, "no user"},
		{"another spelling of root", func(p *pod) { p.order.User = "+0" }, hostjob.ReasonUnknownUser, `no user "+0"`},
		{"no such command", func(p *pod) { p.order.Args = []string{"none-there"} }, hostjob.ReasonNoCommand, `no "none-there"`},
		{"a directory as command", func(p *pod) { p.order.Args = []string{"/etc"} }, hostjob.ReasonNoCommand, "is a directory"},
		{"a file that cannot be executed", func(p *pod) { p.order.Args = []string{"/etc/passwd"} }, hostjob.ReasonNoCommand, "permission denied"},
		{"no such secret", func(p *pod) { p.order.SecretEnvs = map[string]string{"A": "none"} }, hostjob.ReasonNoSecret, "the value of A cannot be read"},
		{"a secret with NUL", func(p *pod) { p.secret("A", "hunter2\x00") }, hostjob.ReasonNoSecret, "the value of A contains a NUL character"},
		{"a long secret", func(p *pod) { p.secret("A", strings.Repeat("a", hostjob.MaxArgument)) }, hostjob.ReasonEnvTooLong, "the variable A is longer"},
		{"a long variable", func(p *pod) { p.order.Envs = []string{"A=" + strings.Repeat("a", hostjob.MaxArgument)} }, hostjob.ReasonEnvTooLong, "the variable A is longer"},
		{"a long argument", func(p *pod) { p.order.Args = []string{"echo", strings.Repeat("a", hostjob.MaxArgument+1)} }, hostjob.ReasonTooLong, "131072 bytes"},
		{"no place for markers", func(p *pod) { p.markers = "/etc/passwd/activities" }, hostjob.ReasonNoMarker, "not a directory"},
		{"no host", func(p *pod) { p.proc = "/none/there" }, hostjob.ReasonNoHost, "requires hostPID and a privileged container"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPod(t)
			order, markers := p.order, p.markers
			test.change(p)
			p.expect(p.run("echo >>ran"), hostjob.NotStarted, test.reason, test.words)
			p.order, p.markers, p.proc = order, markers, ""
			p.expect(p.run("echo >>ran"), hostjob.Succeeded, hostjob.ReasonExited, "")
			if got := p.times("ran"); got != 1 {
				t.Errorf("expected the corrected order to be run once, got %d", got)
			}
		})
	}
}

func TestALongCommandIsRefused(t *testing.T) {
	p := newPod(t)
	p.expect(p.run(strings.Repeat("a", hostjob.MaxArgument+1)), hostjob.NotStarted, hostjob.ReasonTooLong, "put the text into a file on the host")
	p.expect(p.run("true "+strings.Repeat("a", hostjob.MaxArgument-5)), hostjob.Succeeded, hostjob.ReasonExited, "")
}

func TestAWrongOrderIsInvalid(t *testing.T) {
	p := newPod(t)
	must(t, os.WriteFile(p.path("order.json"), []byte(`{"uid":"u","run":1,"comand":"id"}`), 0o600))
	p.expect(p.startFile().result(), hostjob.Invalid, hostjob.ReasonBadOrder, `unknown field "comand"`)
	must(t, os.WriteFile(p.path("order.json"), []byte(`{"uid":"u","run":0,"created":"2026-05-01T08:00:00Z"}`), 0o600))
	p.expect(p.startFile().result(), hostjob.Invalid, hostjob.ReasonBadOrder, "run must be 1 or more; exactly one of command and args must be set")
	must(t, os.Remove(p.path("order.json")))
	p.expect(p.startFile().result(), hostjob.Invalid, hostjob.ReasonBadOrder, "the order cannot be read")
	if _, err := os.Stat(p.markers); !os.IsNotExist(err) {
		t.Errorf("expected nothing to be touched on the host, got %v", err)
	}
}

// When the kernel refuses the command, the marker, which records the start of the run, has been written. So the run
// cannot be repeated.
func TestARefusalOfTheKernelIsReported(t *testing.T) {
	p := newPod(t)
	must(t, os.WriteFile(p.path("script"), []byte("#!/none/there\n"), 0o755))
	p.order.Args = []string{p.path("script")}
	p.expect(p.run(""), hostjob.NotStarted, hostjob.ReasonNotExecuted, "script cannot be executed: no such file or directory")
	r := p.run("")
	p.expect(r, hostjob.NotStarted, hostjob.ReasonNotExecuted, "script cannot be executed")
	if !r.Again {
		t.Error("expected the stored result again")
	}
}

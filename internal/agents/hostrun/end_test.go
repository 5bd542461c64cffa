// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/hostrun/markers"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// stubborn is a command that starts a tree of processes which try to hide and to survive. Each process writes its PID
// into a file named pids. They end soon after the directory of the test is removed.
const stubborn = `
stay() { trap "" TERM; sh -c 'echo $PPID' >>pids; while [ -e pids ]; do sleep 1; done; }
stay &                                     # a child
(stay &) &                                 # an orphan
setsid sh -c 'trap "" TERM HUP; echo $$ >>pids; sleep 100 & echo $! >>pids; wait; wait' </dev/null >/dev/null 2>&1 &
(setsid sh -c '(trap "" TERM; echo $$ >>pids; exec sleep 100) & exit' &)
while [ $(wc -l <pids) -lt 5 ]; do sleep 0.05; done
echo >ready
`

func TestProcessesThatACommandLeavesBehindAreEnded(t *testing.T) {
	p := newPod(t)
	r := p.run(stubborn + "echo done")
	p.expect(r, hostjob.Succeeded, hostjob.ReasonExited, "exited with code 0; it left behind ")
	if r.Tail != "done\n" {
		t.Errorf("got %q", r.Tail)
	}
	p.gone("pids")
}

func TestAChildInTheBackgroundDoesNotDelayTheEnd(t *testing.T) {
	p := newPod(t)
	r := p.run("sleep 100 & echo $! >pids; echo done")
	p.expect(r, hostjob.Succeeded, hostjob.ReasonExited, "it left behind 1 processes, which were killed")
	if took := r.EndedAt.Sub(r.StartedAt); took > patience/2 {
		t.Errorf("the end came after %s", took)
	}
	p.gone("pids")
}

// A process that the command started in the background may print output after the command itself has ended.
func TestTheLastLinesOfAChildInTheBackgroundAreWaitedFor(t *testing.T) {
	p := newPod(t)
	p.expect(p.run("(while [ -d /proc/$$ ]; do sleep 0.01; done; echo late) & echo early"), hostjob.Succeeded, hostjob.ReasonExited, "exited with code 0")
	if p.log() != "early\nlate\n" {
		t.Errorf("got %q", p.log())
	}
}

func TestATimeoutEndsTheWholeTree(t *testing.T) {
	p := newPod(t)
	p.order.TimeoutSeconds, p.order.GraceSeconds = 2, 1
	r := p.run(stubborn + "sleep 100")
	p.expect(r, hostjob.TimedOut, hostjob.ReasonDeadline, "the run exceeded its time limit, and the command was killed by SIGTERM")
	if r.Signal != "SIGTERM" || r.ExitCode != nil {
		t.Errorf("got %+v", r)
	}
	p.gone("pids")
}

func TestACancelGivesTimeToEnd(t *testing.T) {
	p := newPod(t)
	c := p.start(`trap "echo cleaning; sleep 0.2; echo cleaned; exit 9" TERM; echo >ready; while :; do sleep 0.1; done`)
	p.file("ready")
	must(t, c.cmd.Process.Signal(syscall.SIGTERM))
	r := c.result()
	p.expect(r, hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled, and the command exited with code 9")
	if *r.ExitCode != 9 || !strings.Contains(r.Tail, "cleaned") {
		t.Errorf("got %+v", r)
	}
}

func TestACancelEndsACommandThatIgnoresIt(t *testing.T) {
	p := newPod(t)
	p.order.GraceSeconds = 1
	c := p.start(stubborn + `trap "echo >termed" TERM; echo >trapped; while [ -e pids ]; do sleep 1 & wait; done`)
	p.file("trapped")
	must(t, c.cmd.Process.Signal(syscall.SIGTERM))
	p.file("termed")
	must(t, c.cmd.Process.Signal(syscall.SIGTERM)) // a restarted kubelet sends the signal again
	r := c.result()
	p.expect(r, hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled, and the command was killed by SIGKILL")
	p.gone("pids")
	again := p.run("echo >>ran")
	p.expect(again, hostjob.Cancelled, hostjob.ReasonPodEnded, "")
	if !again.Again || p.times("ran") != 0 {
		t.Errorf("expected a cancelled run not to be run again, got %+v", again)
	}
}

// A log that no process reads may block the command, as in any container, but must not block its end.
func TestAnUnreadLogDoesNotDelayTheEnd(t *testing.T) {
	p := newPod(t)
	must(t, syscall.Mkfifo(p.path("fifo"), 0o600))
	fifo, err := os.OpenFile(p.path("fifo"), os.O_RDWR, 0)
	must(t, err)
	defer fifo.Close()
	p.before = []string{"sh", "-c", `log=$1; shift; exec "$@" >"$log"`, "sh", p.path("fifo")}
	p.order.TimeoutSeconds = 1
	r := p.run("echo $$ >pids; yes")
	p.expect(r, hostjob.TimedOut, hostjob.ReasonDeadline, "was killed by SIGTERM")
	p.gone("pids")
}

func TestWhenTheRunnerIsKilledTheTreeEnds(t *testing.T) {
	p := newPod(t)
	c := p.start(stubborn + `sh -c 'echo $PPID' >>pids; sleep 100`)
	p.file("ready")
	eventually.True(t, patience, "the command is in its last line", func() error {
		if p.times("pids") < 6 {
			return errors.New("not yet")
		}
		return nil
	})
	must(t, c.cmd.Process.Kill())
	p.gone("pids")
	_ = c.cmd.Wait()
	eventually.True(t, patience, "the host has the result of the run", func() error {
		_, err := os.Stat(p.markers + "/0f1e-2d3c-1" + markers.ResultSuffix)
		return err
	})
	r := p.run("echo >>ran")
	p.expect(r, hostjob.Failed, hostjob.ReasonRunnerLost, "the runner process in the pod was killed")
	if !r.Again || p.times("ran") != 0 {
		t.Errorf("expected the command not to be run again, got %+v", r)
	}
}

func TestWhenTheHostStageIsKilledTheTreeEndsAndTheRunIsUnknown(t *testing.T) {
	p := newPod(t)
	c := p.start(stubborn + `sleep 100`)
	p.file("ready")
	children, err := exec.Command("pgrep", "-P", strconv.Itoa(c.cmd.Process.Pid)).Output()
	must(t, err)
	stage, err := strconv.Atoi(strings.TrimSpace(string(children)))
	must(t, err)
	must(t, syscall.Kill(stage, syscall.SIGKILL))
	p.expect(c.result(), hostjob.Unknown, hostjob.ReasonRunnerLost, "ended without a result (signal: killed)")
	p.gone("pids")
	p.expect(p.run("echo >>ran"), hostjob.Unknown, hostjob.ReasonNoResult, "left no result")
	if p.times("ran") != 0 {
		t.Error("expected the command not to be run again")
	}
}

// After each of these crashes, a kubelet may start the container again, but the command must not run a second time.
func TestACrashAtAnyMomentNeverRunsACommandTwice(t *testing.T) {
	for _, test := range []struct {
		moment string
		state  hostjob.State // state that the container reports after the crash
		times  int           // how often the command has run at the end
	}{
		{"before the marker", hostjob.Succeeded, 1},
		{"after the marker", hostjob.Unknown, 0},
		{"before the result", hostjob.Unknown, 1},
		{"after the result", hostjob.Succeeded, 1},
	} {
		t.Run(test.moment, func(t *testing.T) {
			p := newPod(t)
			p.moment = test.moment
			p.expect(p.run("echo >>ran"), hostjob.Unknown, hostjob.ReasonRunnerLost, "ended without a result")
			p.moment = ""
			for range 2 {
				if r := p.run("echo >>ran"); r.State != test.state {
					t.Errorf("expected %s, got %+v", test.state, r)
				}
			}
			if got := p.times("ran"); got != test.times {
				t.Errorf("expected the command to have run %d times, got %d", test.times, got)
			}
		})
	}
}

func TestManyRunnersOfOneOrderRunItOnce(t *testing.T) {
	p := newPod(t)
	var all []*running
	for range 8 {
		one := *p
		one.dir = t.TempDir() // each container has files of its own
		all = append(all, one.start("sleep 0.2; echo >>ran"))
	}
	for _, c := range all {
		if r := c.result(); r.State != hostjob.Succeeded && (r.State != hostjob.Unknown || r.Reason != hostjob.ReasonNoResult) {
			t.Errorf("got %+v", r)
		}
	}
	if got := p.times("ran"); got != 1 {
		t.Errorf("expected one run, got %d", got)
	}
	p.order.Run = 2
	p.expect(p.run("echo >>ran"), hostjob.Succeeded, hostjob.ReasonExited, "")
	if got := p.times("ran"); got != 2 {
		t.Errorf("expected the second run to be executed too, got %d", got)
	}
}

func TestACancelBeforeTheStartExecutesNothing(t *testing.T) {
	p := newPod(t)
	must(t, syscall.Mkfifo(p.path("order.json"), 0o600))
	c := p.startFile()
	// Opening the other end of the pipe succeeds only when the runner is waiting for its order.
	fifo, err := os.OpenFile(p.path("order.json"), os.O_WRONLY, 0)
	must(t, err)
	must(t, c.cmd.Process.Signal(syscall.SIGTERM))
	eventually.True(t, patience, "the runner has taken the signal", func() error {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/status")
		if err == nil && !strings.Contains(string(text), "ShdPnd:\t0000000000000000") {
			err = errors.New("it is still pending")
		}
		return err
	})
	p.order.Command = "echo >>ran"
	text, err := hostjob.EncodeOrder(p.order)
	must(t, err)
	_, err = fifo.WriteString(text)
	must(t, errors.Join(err, fifo.Close()))
	p.expect(c.result(), hostjob.Cancelled, hostjob.ReasonPodEnded, "the run was cancelled before the command was started")
	if _, err := os.Stat(p.markers + "/0f1e-2d3c-1"); p.times("ran") != 0 || err == nil {
		t.Errorf("expected neither an execution nor a marker, got %v", err)
	}
}

func TestACommandThatRemovesItsDirectoryIsNotRunAgain(t *testing.T) {
	p := newPod(t)
	p.order.Dir = p.path("work")
	must(t, os.Mkdir(p.order.Dir, 0o755))
	for _, again := range []bool{false, true} {
		r := p.run("rmdir ../work")
		p.expect(r, hostjob.Succeeded, hostjob.ReasonExited, "")
		if r.Again != again {
			t.Errorf("expected the stored result again: %v, got %+v", again, r)
		}
	}
}

func TestOldMarkersAreForgottenByLaterRuns(t *testing.T) {
	p := newPod(t)
	p.expect(p.run("echo >>ran"), hostjob.Succeeded, hostjob.ReasonExited, "")
	p.order.UID, p.order.Created = "later", morning().Add(time.Hour)
	p.order.ForgetBefore = morning().Add(time.Minute)
	p.expect(p.run("echo >>ran"), hostjob.Succeeded, hostjob.ReasonExited, "")
	entries, err := os.ReadDir(p.markers)
	must(t, err)
	if len(entries) != 2 || entries[0].Name() != "later-1" {
		t.Errorf("expected the marker and the result of the later run, got %v", entries)
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"io"
	"net"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
	"github.com/opcrew/opcrew/internal/stores/hostiletest"
)

func TestAHostileServerBeforeTheLoginIsGivenUpInTime(t *testing.T) {
	for name, address := range hostiletest.ServeSSH() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			j := newJob(t, m, "true")
			j.order.SSH.Host, j.order.SSH.Port, _ = net.SplitHostPort(address)
			j.order.SSH.ConnectBefore = time.Now().Add(2 * time.Second)
			began := time.Now()
			j.want(j.run(), hostjob.NotStarted, hostjob.ReasonNoConnect, "did not accept a connection in time")
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("expected an end soon after the deadline, it took %s", took)
			}
		})
	}
}

// answer makes a machine send a text as the reports of a script. The word of the script replaces WORD.
func answer(reports string) func(ssh.Channel, string) int {
	return func(channel ssh.Channel, _ string) int {
		text, _ := io.ReadAll(channel)
		word := regexp.MustCompile(`word='([^']+)'`).FindStringSubmatch(string(text))[1]
		_, _ = io.WriteString(channel.Stderr(), strings.ReplaceAll(reports, "WORD", word))
		return 0
	}
}

func TestAHostileServerCannotMakeUpAResult(t *testing.T) {
	for name, c := range map[string]struct {
		reports string
		state   hostjob.State
		reason  string
	}{
		"success without a word":   {"hello\nstarted\nend 0 1 2 0\n", hostjob.NotStarted, hostjob.ReasonNoShell},
		"an impossible exit code":  {"WORD hello\nWORD started\nWORD end 256 1 2 0\n", hostjob.Unknown, hostjob.ReasonConnection},
		"no exit code":             {"WORD hello\nWORD started\nWORD end\n", hostjob.Unknown, hostjob.ReasonConnection},
		"letters as an exit code":  {"WORD hello\nWORD started\nWORD end x 1 2 0\n", hostjob.Unknown, hostjob.ReasonConnection},
		"a negative exit code":     {"WORD hello\nWORD started\nWORD end -1 1 2 0\n", hostjob.Unknown, hostjob.ReasonConnection},
		"a number beyond 64 bits":  {"WORD hello\nWORD started\nWORD end 0 99999999999999999999 2 0\n", hostjob.Unknown, hostjob.ReasonConnection},
		"times far in the future":  {"WORD hello\nWORD result 0 1 9000000000000000000 0\n", hostjob.Succeeded, hostjob.ReasonExited},
		"an unknown report":        {"WORD hello\nWORD what\n", hostjob.Unknown, hostjob.ReasonConnection},
		"an unknown refusal":       {"WORD hello\nWORD refuse \x1b[31mred\n", hostjob.NotStarted, hostjob.ReasonNotReady},
		"a report without an end":  {"WORD hello\nWORD started\nWORD end 0 1 2 0", hostjob.Unknown, hostjob.ReasonConnection},
		"a report of a long line":  {"WORD hello\nWORD started\nWORD end 0 1 2 0" + strings.Repeat(" ", 1000) + "\n", hostjob.Unknown, hostjob.ReasonConnection},
		"nothing after the script": {"WORD hello\n", hostjob.Unknown, hostjob.ReasonConnection},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.serve = answer(c.reports)
			j := newJob(t, m, "true")
			j.limits.lost = time.Second
			j.want(j.run(), c.state, c.reason)
		})
	}
}

func TestAHostileServerCannotFillMemoryOrTakeForever(t *testing.T) {
	block := strings.Repeat("x", 1<<20)
	for name, serve := range map[string]func(channel ssh.Channel, line string) int{
		"reports without end": func(channel ssh.Channel, _ string) int { return flood(channel.Stderr(), block) },
		"lines without end":   func(channel ssh.Channel, _ string) int { return flood(channel.Stderr(), strings.Repeat("x\n", 1<<19)) },
		"output without end":  func(channel ssh.Channel, _ string) int { return flood(channel, block) },
		"no answer": func(channel ssh.Channel, _ string) int {
			_, _ = io.Copy(io.Discard, channel)
			time.Sleep(time.Minute)
			return 0
		},
		"an open end": func(channel ssh.Channel, line string) int {
			answer("WORD hello\nWORD started\n")(channel, line)
			return flood(channel, block)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.serve = serve
			j := newJob(t, m, "true")
			j.order.TimeoutSeconds, j.order.GraceSeconds = 1, 1
			j.limits.begin, j.limits.lost, j.limits.signal, j.limits.confirm = 2*time.Second, time.Second, time.Second, time.Second
			began := time.Now()
			r := j.run()
			if r.State != hostjob.Unknown || time.Since(began) > 20*time.Second {
				t.Errorf("expected an unknown result in time, got %+v after %s", r, time.Since(began))
			}
			var memory runtime.MemStats
			if runtime.ReadMemStats(&memory); memory.HeapAlloc-uint64(j.log.Cap()) > 128<<20 {
				t.Errorf("expected little memory, got %d bytes", memory.HeapAlloc)
			}
		})
	}
}

func flood(to io.Writer, block string) int {
	for {
		if _, err := io.WriteString(to, block); err != nil {
			return 0
		}
	}
}

// A server that is stopped keeps its connections, and answers nothing.
func TestAServerThatNoLongerRespondsIsNoticed(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "echo x >> "+m.file("ran")+"; sleep 1000")
	j.limits.alive, j.limits.lost = 500*time.Millisecond, time.Second
	front := freezable(t, m)
	j.order.SSH.Host, j.order.SSH.Port, _ = net.SplitHostPort(front.Addr().String())
	j.known = knownhosts.Line([]string{front.Addr().String()}, m.host.PublicKey()) + "\n"
	go func() {
		j.await("ran")
		front.freeze()
	}()
	j.want(j.run(), hostjob.Unknown, hostjob.ReasonConnection, "the server does not respond")
	j.ran(1)
}

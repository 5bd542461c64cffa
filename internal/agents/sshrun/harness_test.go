// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// hasty are limits for tests.
func hasty() limits {
	return limits{
		handshake: 3 * time.Second, retry: 100 * time.Millisecond,
		open: 2 * time.Second, begin: 5 * time.Second, alive: 2 * time.Second,
		lost: 3 * time.Second, poll: 100 * time.Millisecond,
		signal: 3 * time.Second, confirm: 3 * time.Second,
		drain: time.Second, slack: time.Minute,
	}
}

// job is a run of an Activity on a machine.
type job struct {
	*testing.T
	machine *machine
	order   hostjob.Order
	secrets map[string]string
	limits  limits
	key     []byte
	known   string
	log     bytes.Buffer
}

func newJob(t *testing.T, m *machine, command string) *job {
	t.Helper()
	j := &job{T: t, machine: m, limits: hasty(), order: hostjob.NewOrder("uid-"+strings.ToLower(t.Name()[4:20]), 1, time.Now())}
	j.order.Command, j.order.User = command, "ordinary"
	host, port := m.address()
	j.order.SSH = &hostjob.SSH{Name: "db1", Secret: "logins", Host: host, Port: port, ConnectBefore: time.Now().Add(5 * time.Second)}
	m.user, j.key = newKey(t)
	j.known = m.known(m.host.PublicKey())
	return j
}

// run runs the program with the files of the job.
func (j *job) run() hostjob.Result { return j.runUntil(j.Context()) }

func (j *job) runUntil(ctx context.Context) hostjob.Result {
	j.Helper()
	dir := j.TempDir()
	files := map[string]string{hostjob.SSHKeyFile: string(j.key), hostjob.SSHKnownFile: j.known}
	for name, value := range j.secrets {
		files[name] = value
		if j.order.SecretEnvs == nil {
			j.order.SecretEnvs = map[string]string{}
		}
		j.order.SecretEnvs[name] = name
	}
	text, err := hostjob.EncodeOrder(j.order)
	if err != nil {
		j.Fatal(err)
	}
	files["order.json"] = text
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			j.Fatal(err)
		}
	}
	r, err := hostjob.ParseResult(string(carryOut(ctx, Options{Order: filepath.Join(dir, "order.json"), Secrets: dir}, j.limits, &j.log)))
	if err != nil {
		j.Fatal(err)
	}
	return r
}

// want checks the state and the reason of a result, and that its message contains words.
func (j *job) want(r hostjob.Result, state hostjob.State, reason string, words ...string) {
	j.Helper()
	if r.State != state || r.Reason != reason {
		j.Errorf("expected the run to be %s (%s), got %s (%s): %s; output %q", state, reason, r.State, r.Reason, r.Message, r.Tail)
	}
	for _, word := range words {
		if !strings.Contains(r.Message, word) {
			j.Errorf("expected a message with %q, got %q", word, r.Message)
		}
	}
}

// ran checks how often the command left a line in the file "ran".
func (j *job) ran(times int) {
	j.Helper()
	text, _ := os.ReadFile(j.machine.file("ran"))
	if n := strings.Count(string(text), "\n"); n != times {
		j.Errorf("expected the command to run %d times on the machine, it ran %d times", times, n)
	}
}

// await waits until a file exists on the machine.
func (j *job) await(file string) {
	j.Helper()
	for range 100 {
		if info, err := os.Stat(j.machine.file(file)); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	j.Errorf("expected the command to write %s", file)
}

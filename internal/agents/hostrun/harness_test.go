// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/hostrun/markers"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const patience = 60 * time.Second

// If its first argument is one of these, the test binary does not run the tests, but acts as another program.
const (
	dyingRunner = "run-on-dying-host" // process in the container that starts dyingHost on the host
	dyingHost   = "dying-host"        // process on the host that kills itself at a given moment
	firstOfHost = "first-of-host"     // process 1 of a simulated host
)

// TestMain also runs the programs that the tests need: a test starts the test binary again, and its first argument
// selects the program.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	// As in cmd/opcrew-agent, a second signal ends the process at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	var err error
	switch os.Args[1] {
	case subcommand, dyingRunner:
		err = runFlags(ctx, os.Args[1], os.Args[2:])
	case dyingHost:
		err = runStage(ctx, func(dir string) (markers.Ledger, error) {
			m, err := openLedger(dir)
			return &dyingLedger{m, os.Args[2]}, err
		})
	case firstOfHost:
		err = beHost(os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runFlags(ctx context.Context, what string, args []string) error {
	stage := stageArgs(hostStage)
	if what == dyingRunner {
		stage, args = []string{dyingHost, args[0]}, args[1:]
	}
	o, err := ParseFlags(args, os.Stdout)
	if err == nil && o.Stage == "" {
		return (&runner{options: o, stage: stage}).run(ctx)
	}
	return errors.Join(err, Run(ctx, o))
}

// dyingLedger records started runs like the real ledger, and kills its own process at a given moment to simulate a
// crash.
type dyingLedger struct {
	markers.Ledger
	moment string
}

func (l *dyingLedger) dieAt(moment string) {
	if l.moment == moment {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

func (l *dyingLedger) Take(key string, m markers.Marker) error {
	l.dieAt("before the marker")
	err := l.Ledger.Take(key, m)
	l.dieAt("after the marker")
	return err
}

func (l *dyingLedger) Keep(key string, result []byte) error {
	l.dieAt("before the result")
	err := l.Ledger.Keep(key, result)
	l.dieAt("after the result")
	return err
}

// pod simulates a pod that the operator created for an order.
type pod struct {
	*testing.T
	order hostjob.Order
	// proc is the /proc of the host. If it is empty, this machine is the host, and the command runs as the user of the
	// test.
	proc    string
	dir     string // files of the container
	markers string // directory on the host that records started runs
	moment  string // when the process on the host is killed, such as "after the marker"; "" means never
	before  []string
	env     []string
}

func newPod(t *testing.T) *pod {
	t.Helper()
	dir := t.TempDir()
	p := &pod{T: t, dir: dir, markers: filepath.Join(dir, "host", "activities"), order: hostjob.NewOrder("0f1e-2d3c", 1, morning())}
	p.order.User, p.order.Dir = strconv.Itoa(os.Geteuid()), dir
	must(t, os.Mkdir(p.path("secrets"), 0o755))
	return p
}

func (p *pod) path(name string) string { return filepath.Join(p.dir, name) }

// secret sets an environment variable from a mounted Secret.
func (p *pod) secret(name, value string) {
	p.Helper()
	must(p.T, os.WriteFile(p.path("secrets/"+name), []byte(value), 0o644))
	if p.order.SecretEnvs == nil {
		p.order.SecretEnvs = map[string]string{}
	}
	p.order.SecretEnvs[name] = name
}

// run runs one container from its start to its end, and returns the result.
func (p *pod) run(command string) hostjob.Result {
	p.Helper()
	return p.start(command).result()
}

// running is a container that has not ended yet.
type running struct {
	*pod
	cmd *exec.Cmd
}

func (p *pod) start(command string) *running {
	p.Helper()
	p.order.Command = command
	if p.order.Args != nil {
		p.order.Command = ""
	}
	text, err := hostjob.EncodeOrder(p.order)
	must(p.T, err)
	must(p.T, os.WriteFile(p.path("order.json"), []byte(text), 0o644))
	return p.startFile()
}

func (p *pod) startFile() *running {
	p.Helper()
	log, err := os.Create(p.path("log"))
	must(p.T, err)
	defer log.Close()
	self, err := os.Executable()
	must(p.T, err)
	what := []string{self, subcommand}
	if p.moment != "" {
		what = []string{self, dyingRunner, p.moment}
	}
	args := append(slices.Concat(p.before, what), "--order", p.path("order.json"), "--secrets", p.path("secrets"), "--result", p.path("result"), "--markers", p.markers, "--proc", p.proc)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), p.env...)
	must(p.T, cmd.Start())
	p.Cleanup(func() { _ = cmd.Process.Kill() })
	return &running{p, cmd}
}

// result waits for the end of the container, and returns the result.
func (r *running) result() hostjob.Result {
	r.Helper()
	timer := time.AfterFunc(patience, func() { _ = r.cmd.Process.Kill() })
	defer timer.Stop()
	if err := r.cmd.Wait(); err != nil {
		r.Fatalf("expected the runner to report a result, got %v; its log: %s", err, r.log())
	}
	text, err := os.ReadFile(r.path("result"))
	must(r.T, err)
	got, err := hostjob.ParseResult(string(text))
	if err != nil || len(text) > hostjob.MaxResult {
		r.Fatalf("%d bytes of a result: %v: %s", len(text), err, text)
	}
	return got
}

func (p *pod) log() string {
	text, err := os.ReadFile(p.path("log"))
	must(p.T, err)
	return string(text)
}

// expect checks the state, the reason and a part of the message of a result.
func (p *pod) expect(r hostjob.Result, state hostjob.State, reason, message string) {
	p.Helper()
	if r.State != state || r.Reason != reason || !strings.Contains(r.Message, message) {
		p.Fatalf("expected %s, %s and a message with %q, got %+v", state, reason, message, r)
	}
}

// file waits until the command has written a line into a file, and returns the content of the file.
func (p *pod) file(name string) string {
	p.Helper()
	var text []byte
	eventually.True(p.T, patience, "the command writes "+name, func() (err error) {
		text, err = os.ReadFile(p.path(name))
		if err == nil && !bytes.HasSuffix(text, []byte("\n")) {
			return errors.New("no whole line yet")
		}
		return err
	})
	return strings.TrimSpace(string(text))
}

// gone waits for the end of all processes whose PIDs the command wrote into the named files.
func (p *pod) gone(names ...string) {
	p.Helper()
	for _, name := range names {
		for text := range strings.FieldsSeq(p.file(name)) {
			pid, err := strconv.Atoi(text)
			must(p.T, err)
			eventually.True(p.T, patience, fmt.Sprintf("process %d of %s ends", pid, name), func() error {
				stat, _ := os.ReadFile(filepath.Join("/proc", text, "stat"))
				if state := stat[bytes.LastIndexByte(stat, ')')+1:]; len(state) > 1 && state[1] != 'Z' && state[1] != 'X' {
					return fmt.Errorf("it still runs: %s", stat)
				}
				return nil
			})
		}
	}
}

// times returns how often a command ran. The command must append one line to the named file each time.
func (p *pod) times(name string) int {
	p.Helper()
	text, err := os.ReadFile(p.path(name))
	if err != nil && !os.IsNotExist(err) {
		p.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// morning returns the creation time of the Activities in the tests.
func morning() time.Time { return time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC) }

// place returns a directory for markers, the files that record started runs. The clock of the *markers.Dir is the
// function morning, which always returns the same time.
func place(t *testing.T) (string, *markers.Dir) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "opcrew", "activities")
	m, err := markers.Open(dir, morning)
	must(t, err)
	t.Cleanup(m.Close)
	return dir, m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package etcdgate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/exit"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

const (
	patience = 60 * time.Second
	fakeEtcd = "fake-etcd"
)

// TestMain also runs the gate (the program of this package) and a simulated etcd, because the test binary serves as
// both programs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == subcommand {
		os.Exit(beGate(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == fakeEtcd {
		os.Exit(beEtcd(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// beGate runs the gate, the program of this package, in the same way as cmd/opcrew-agent.
func beGate(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	o, err := ParseFlags(args, io.Discard)
	if err == nil {
		err = Run(ctx, o, slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exit.Code(err, 1)
	}
	return 0
}

// beEtcd simulates etcd as its arguments specify: it writes its PID and a log, prints output, serves requests, and
// ends.
func beEtcd(args []string) int {
	set := flag.NewFlagSet(fakeEtcd, flag.ExitOnError)
	dir, metrics := set.String("data-dir", "", ""), set.String("metrics", "", "")
	say, code := set.String("say", "", ""), set.Int("exit", -1, "")
	hangUp := set.Bool("die", false, "")
	_ = set.Parse(args)
	terminated := make(chan os.Signal, 10)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT)
	_ = put(filepath.Join(*dir, segment), "x")
	_ = put(filepath.Join(*dir, "..", "pid"), strconv.Itoa(os.Getpid())+"\n")
	fmt.Println("output")
	fmt.Fprintln(os.Stderr, *say)
	if *hangUp {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if *code >= 0 {
		return *code
	}
	if *metrics != "" {
		echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.URL.Path) })
		go func() { fmt.Println(http.ListenAndServe(*metrics, echo)) }()
	}
	<-terminated
	fmt.Println("ending")
	time.Sleep(300 * time.Millisecond) // wait for a second signal
	fmt.Println("ended, signals more than one:", len(terminated))
	return 0
}

// member is the container of an etcd member, with its volume.
type member struct {
	*testing.T
	o       Options
	dir     string
	command []string // command line that runs as etcd
}

func newMember(t *testing.T, args ...string) *member {
	t.Helper()
	m := &member{T: t, o: volume(t, nil)}
	m.dir = filepath.Dir(m.o.DataDir)
	m.o.Termination = filepath.Join(m.dir, "termination-log")
	m.o.Listen, m.o.Metrics, m.o.Client = loopback.Address(), "", loopback.Address()
	self, err := os.Executable()
	must(t, err)
	m.command = append([]string{self, fakeEtcd, "--data-dir", m.o.DataDir}, args...)
	return m
}

// allow writes the start file with the operator's permission, as the kubelet does.
func (m *member) allow(mode etcdstart.Mode) {
	m.Helper()
	must(m.T, put(m.o.Start, etcdstart.Start{Mode: mode, ID: ours().ID}.String()))
}

// running is a container that has not ended yet.
type running struct {
	*member
	cmd *exec.Cmd
}

// start starts the container with an empty termination message.
func (m *member) start() *running {
	m.Helper()
	must(m.T, put(m.o.Termination, ""))
	return m.launch()
}

func (m *member) launch() *running {
	m.Helper()
	log, err := os.Create(filepath.Join(m.dir, "log"))
	must(m.T, err)
	defer log.Close()
	self, err := os.Executable()
	must(m.T, err)
	cmd := exec.Command(self, append([]string{
		subcommand, "--cluster", m.o.Cluster, "--member", m.o.Member, "--data-dir", m.o.DataDir, "--marker", m.o.Marker,
		"--start-file", m.o.Start, "--latch", m.o.Latch, "--termination-log", m.o.Termination, "--listen", m.o.Listen, "--metrics-url", m.o.Metrics,
		"--client-address", m.o.Client, "--",
	}, m.command...)...)
	cmd.Stdout, cmd.Stderr = log, log
	must(m.T, cmd.Start())
	m.Cleanup(func() { _ = cmd.Process.Kill() })
	return &running{m, cmd}
}

func (r *running) signal(s syscall.Signal) {
	r.Helper()
	must(r.T, r.cmd.Process.Signal(s))
}

// ends waits for the end of the container, and expects an exit code and a reason in the termination message. It returns
// the text of the message. The reason "" means that there must be no termination message.
func (r *running) ends(code int, reason etcdstart.Reason) string {
	r.Helper()
	timer := time.AfterFunc(patience, func() { _ = r.cmd.Process.Kill() })
	defer timer.Stop()
	_ = r.cmd.Wait()
	text, err := os.ReadFile(r.o.Termination)
	must(r.T, err)
	var got etcdstart.Report
	if len(text) > 0 {
		got, err = etcdstart.ParseReport(string(text))
	}
	if now := r.cmd.ProcessState.ExitCode(); now != code || got.Reason != reason || err != nil {
		r.Fatalf("expected exit code %d and reason %q, got %d and %+v, %v; its log:\n%s", code, reason, now, got, err, r.log())
	}
	return got.Message
}

func (m *member) log() string {
	text, err := os.ReadFile(filepath.Join(m.dir, "log"))
	must(m.T, err)
	return string(text)
}

func (m *member) says(text string) {
	m.Helper()
	eventually.True(m.T, patience, "etcd says "+text, func() error {
		return demand(strings.Contains(m.log(), text), m.log())
	})
}

// pid returns the PID of the etcd process that was started last.
func (m *member) pid() int {
	m.Helper()
	var pid int
	eventually.True(m.T, patience, "etcd is started", func() error {
		text, err := os.ReadFile(filepath.Join(m.dir, "pid"))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSuffix(string(text), "\n"))
		}
		return err
	})
	return pid
}

func (m *member) ran() bool {
	_, err := os.Stat(filepath.Join(m.dir, "pid"))
	return !errors.Is(err, fs.ErrNotExist)
}

// probe sends a probe in the same way as a kubelet.
func (m *member) probe(path string) (int, string) {
	answer, err := http.Get("http://" + m.o.Listen + path)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func (m *member) answers(path string, code int, part string) {
	m.Helper()
	defer func() {
		if m.Failed() {
			m.Log(m.log())
		}
	}()
	eventually.True(m.T, patience, fmt.Sprintf("%s answers %d %s", path, code, part), func() error {
		got, body := m.probe(path)
		return demand(got == code && strings.Contains(body, part), fmt.Sprintf("%d %s", got, body))
	})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// supervisor manages the child processes of one environment.
type supervisor struct {
	dir      string
	spawn    chan func()
	mu       sync.Mutex
	children []*process
}

// process is a child process. end is set before done is closed.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{}
	end  error
}

func newSupervisor(dir string) *supervisor {
	s := &supervisor{dir: dir, spawn: make(chan func())}
	go s.spawner()
	return s
}

// spawner starts all children from one thread that exists as long as the children. This is necessary because the kernel
// kills a child when the thread that started it ends, and Go may end idle threads.
func (s *supervisor) spawner() {
	runtime.LockOSThread()
	for start := range s.spawn {
		start()
	}
}

// start runs binary under the given name, which is also the child's argv[0].
func (s *supervisor) start(name, binary string, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(s.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer log.Close()
	p := &process{name: name, cmd: s.command(name, binary, args, log), log: log.Name(), done: make(chan struct{})}
	started := make(chan error)
	s.spawn <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go p.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children = append(s.children, p)
	return p, nil
}

func (s *supervisor) command(name, binary string, args []string, log io.Writer) *exec.Cmd {
	return &exec.Cmd{
		Path:   binary,
		Args:   append([]string{name}, args...),
		Dir:    s.dir,
		Stdout: log,
		Stderr: log,
		// A kubeconfig or kwok configuration of the user must not affect the children.
		Env: []string{"HOME=" + s.dir, "TMPDIR=" + s.dir, "PATH=" + os.Getenv("PATH")},
		SysProcAttr: &syscall.SysProcAttr{
			Pdeathsig: syscall.SIGKILL,
			Setpgid:   true, // Ctrl-C ends only the test binary; the kernel then ends the children
		},
	}
}

func (p *process) wait() {
	p.end = p.cmd.Wait()
	close(p.done)
}

// exited returns an error that describes how the process ended. It returns nil while the process runs.
func (p *process) exited() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s ended: %v", p.name, p.cmd.ProcessState)
	default:
		return nil
	}
}

// kill kills the process and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if the process has already ended
	<-p.done
}

// tail returns the last n lines of the process's log, indented for the output of a test. It truncates long lines,
// because controllers log whole objects.
func (p *process) tail(n int) string {
	const width = 240
	text, err := os.ReadFile(p.log)
	if err != nil {
		return "    " + err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		lines[i] = "    " + line[:min(len(line), width)]
	}
	return strings.Join(lines, "\n")
}

// stop kills all children in the reverse order of their start. Then it ends the goroutine spawner.
func (s *supervisor) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Backward(s.children) {
		p.kill()
	}
	close(s.spawn)
}

// report writes, for every child, whether it still runs and the end of its log.
func (s *supervisor) report(w io.Writer, lines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.children {
		state := "running"
		if err := p.exited(); err != nil {
			state = err.Error()
		}
		fmt.Fprintf(w, "--- %s (%s), end of its log:\n%s\n", p.name, state, p.tail(lines))
	}
}

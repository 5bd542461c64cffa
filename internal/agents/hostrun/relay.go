// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/opcrew/opcrew/internal/agents/hostrun/markers"
	"github.com/opcrew/opcrew/internal/agents/hostrun/tree"
	"github.com/opcrew/opcrew/internal/agents/shared/hostns"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// relay connects the runner (the process in the container) to the host stage (the process on the host).
type relay struct {
	cmd     *exec.Cmd
	control *os.File // when this pipe is closed, the process on the host knows that the runner has ended
	result  *os.File
}

// start starts the host stage, the process that executes the order (the description of a command) on the host. It
// starts this program through an open file, because the host does not have the binary.
func (r *runner) start() (*relay, error) {
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	stageControl, control, errControl := pipe()
	result, stageResult, errResult := pipe()
	defer closeAll(program, stageControl, stageResult)
	for _, err := range []error{errControl, errResult} {
		if err != nil {
			return nil, err
		}
	}
	cmd := &exec.Cmd{
		Path: binary, Args: append([]string{"opcrew-agent"}, r.stage...), Env: []string{},
		Stdin: stageControl, Stdout: os.Stdout, Stderr: os.Stderr, ExtraFiles: []*os.File{program, stageResult},
	}
	if err := r.enter(cmd); err != nil {
		closeAll(control, result)
		return nil, err
	}
	return &relay{cmd, control, result}, nil
}

func (r *runner) enter(cmd *exec.Cmd) error {
	if r.options.Proc == "" {
		return cmd.Start()
	}
	return hostns.Start(r.options.Proc, cmd)
}

// follow sends the order to the host stage, the process on the host, and also a cancellation if ctx ends. It returns
// the encoded result.
func (s *relay) follow(ctx context.Context, w *work) []byte {
	defer closeAll(s.control, s.result)
	if err := json.NewEncoder(s.control).Encode(w); err != nil {
		return s.ended(err)
	}
	stop := context.AfterFunc(ctx, func() { _, _ = s.control.Write([]byte{1}) })
	defer stop()
	line, err := bufio.NewReader(s.result).ReadBytes('\n')
	if err != nil {
		return s.ended(err)
	}
	s.waitForStage()
	return bytes.TrimSuffix(line, []byte("\n"))
}

// waitForStage waits until the host stage, the process on the host, has ended. When this process exits, the pod ends,
// even if the host stage still runs. The exit status of the stage does not matter, because its result has been read.
func (s *relay) waitForStage() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.cmd.Wait()
	}()
	within(2*markers.MaxForget, done)
}

// ended returns the result for a host stage, the process on the host, that ended before it reported a result.
func (s *relay) ended(err error) []byte {
	if waiting := s.cmd.Wait(); waiting != nil {
		err = waiting
	}
	left := tree.KillAll()
	r := hostjob.Doubt(hostjob.ReasonRunnerLost, "the process that runs the command on the host ended without a result (%v); it is unknown whether the command ran, and how far", err)
	if left > 0 {
		r.Message += fmt.Sprintf("; %d processes could not be killed", left)
	}
	return hostjob.EncodeResult(*r)
}

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

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// relay is the runner's side of the host stage.
type relay struct {
	cmd     *exec.Cmd
	control *os.File // whose end tells the host stage that the runner has gone
	result  *os.File
}

// start begins the host stage. Its program is an open file: on the host there is none.
func (r *runner) start() (*relay, error) {
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	theirControl, control, errControl := pipe()
	result, theirResult, errResult := pipe()
	defer closeAll(program, theirControl, theirResult)
	for _, err := range []error{errControl, errResult} {
		if err != nil {
			return nil, err
		}
	}
	cmd := &exec.Cmd{
		Path: binary, Args: append([]string{"opcrew-helper"}, r.stage...), Env: []string{},
		Stdin: theirControl, Stdout: os.Stdout, Stderr: os.Stderr, ExtraFiles: []*os.File{program, theirResult},
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
	return startOnHost(r.options.Proc, cmd)
}

// follow hands over the order, passes on that the pod shall end, and gives the result.
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
	s.tidied()
	return bytes.TrimSuffix(line, []byte("\n"))
}

// tidied lets the host stage come to its end: when this process ends, the pod does. How it
// ends does not matter any more.
func (s *relay) tidied() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.cmd.Wait()
	}()
	within(2*maxForget, done)
}

// ended is for a host stage that ended without a result: someone killed it.
func (s *relay) ended(err error) []byte {
	if waiting := s.cmd.Wait(); waiting != nil {
		err = waiting
	}
	left := killAll()
	r := unknown(hostjob.ReasonRunnerLost, "the part of the runner on the host ended without a result (%v): whether the command ran, and how far, cannot be known", err)
	if left > 0 {
		r.Message += fmt.Sprintf("; processes that could not be ended: %d", left)
	}
	return hostjob.EncodeResult(*r)
}

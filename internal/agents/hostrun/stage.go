// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/internal/agents/hostrun/markers"
	"github.com/opcrew/opcrew/internal/agents/hostrun/tree"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// resultFile is the file descriptor of the pipe on which the process on the host reports its result to the process in
// the container.
const resultFile = binaryFile + 1

// runStage runs the host stage, the process that executes an order on the host. It reads the order from standard input,
// which stays open until the runner in the container has ended.
func runStage(ctx context.Context, open func(dir string) (markers.Ledger, error)) error {
	unix.CloseOnExec(binaryFile)
	unix.CloseOnExec(resultFile)
	// Only SIGKILL may end this process; otherwise the processes of the command could lose their parent. Signals are
	// caught, not ignored, because the command would inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1))
	runner := bufio.NewReader(os.Stdin)
	h := &host{boot: bootID(), log: os.Stdout}
	if err := readLine(runner, &h.work); err != nil {
		return err
	}
	h.cancelled, h.lost = listen(ctx, runner)
	defer h.forget()
	if _, err := os.NewFile(resultFile, "result").Write(append(h.carryOut(open), '\n')); err != nil {
		return fmt.Errorf("report to the runner: %w", err)
	}
	return nil
}

// carryOut executes the order (the description of a command) and returns the encoded result for the report.
func (h *host) carryOut(open func(dir string) (markers.Ledger, error)) []byte {
	if err := tree.Adopt(); err != nil {
		return hostjob.EncodeResult(*hostjob.Refuse(hostjob.ReasonNoHost, "%v", err))
	}
	var err error
	if h.ledger, err = open(h.Markers); err != nil {
		h.ledger = nil
		return hostjob.EncodeResult(*hostjob.Refuse(hostjob.ReasonNoMarker, "the command was not started, because the host's directory for markers cannot be used: %v", err))
	}
	return h.result()
}

// forget removes old markers, the files that record started runs. It runs after the result was reported, so that it
// delays only the end of the pod.
func (h *host) forget() {
	if h.ledger != nil && !h.Order.ForgetBefore.IsZero() {
		h.ledger.Forget(h.Order.ForgetBefore, markers.Key(h.Order))
	}
}

// listen returns two contexts. cancelled is done when a signal or the runner (the process in the container) cancels the
// command. lost is done when the runner has ended.
func listen(ctx context.Context, runner io.ByteReader) (cancelled, lost context.Context) {
	cancelled, cancel := context.WithCancel(ctx)
	lost, lose := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer lose()
		for {
			if _, err := runner.ReadByte(); err != nil {
				return
			}
			cancel()
		}
	}()
	return cancelled, lost
}

func openLedger(dir string) (markers.Ledger, error) {
	m, err := markers.Open(dir, time.Now)
	if err != nil {
		return nil, err
	}
	return m, nil
}

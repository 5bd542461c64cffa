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

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// resultFile is where the host stage reports to the runner, behind binaryFile.
const resultFile = binaryFile + 1

// runStage is the host stage: the order comes by the standard input, which then stays open,
// so that its end reports that the runner has gone.
func runStage(ctx context.Context, open func(dir string) (ledger, error)) error {
	unix.CloseOnExec(binaryFile)
	unix.CloseOnExec(resultFile)
	// Nothing but SIGKILL may end this process: the tree of the command would be left alone.
	// And what is caught here is reset for the command; what was ignored before us would not be.
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

// carryOut gives the result to report.
func (h *host) carryOut(open func(dir string) (ledger, error)) []byte {
	if err := adopt(); err != nil {
		return hostjob.EncodeResult(*notStarted(hostjob.ReasonNoHost, "%v", err))
	}
	var err error
	if h.ledger, err = open(h.Markers); err != nil {
		h.ledger = nil
		return hostjob.EncodeResult(*notStarted(hostjob.ReasonNoMarker, "there is no place for the marker of the run, so it is not begun: %v", err))
	}
	return h.result()
}

// forget comes when all has been told: no one waits for it but the end of the pod.
func (h *host) forget() {
	if h.ledger != nil && !h.Order.ForgetBefore.IsZero() {
		h.ledger.forget(h.Order.ForgetBefore, key(h.Order))
	}
}

// listen gives a context that ends when the runner asks for it, or someone else by a signal,
// and one that ends when the runner has gone.
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

func openLedger(dir string) (ledger, error) {
	m, err := openMarkers(dir, time.Now)
	if err != nil {
		return nil, err
	}
	return m, nil
}

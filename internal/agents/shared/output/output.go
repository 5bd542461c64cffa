// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package output collects what a command prints: all of it in a log, and the end of it for the result. It masks the
// values of Secrets.
package output

import (
	"io"
	"sync"

	"github.com/opcrew/opcrew/internal/agents/shared/mask"
	"github.com/opcrew/opcrew/internal/agents/shared/tail"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const chunkSize = 32 << 10

// Output collects what the command prints. Standard output and standard error share one pipe, which keeps their order.
// The tail is written before the log, because a slow or blocked reader of the log must not affect the tail.
type Output struct {
	log  io.Writer
	done chan struct{}

	mu     sync.Mutex
	masker *mask.Masker
	tail   *tail.Tail
	bytes  int64 // number of bytes that the command printed, before secrets were masked
	closed bool
}

// New returns an Output that writes to a log, and masks these values.
func New(log io.Writer, secrets ...string) *Output {
	return &Output{log: log, done: make(chan struct{}), masker: mask.New(secrets...), tail: tail.New(hostjob.TailSize)}
}

// Done is closed when no process holds the pipe open any more.
func (o *Output) Done() <-chan struct{} { return o.done }

// Follow reads the pipe until all processes have closed it. An unrelated process can hold the pipe open for ever, so
// End does not wait for Follow.
func (o *Output) Follow(pipe io.Reader) {
	defer close(o.done)
	buffer := make([]byte, chunkSize)
	for {
		n, err := pipe.Read(buffer)
		o.print(o.take(buffer[:n]))
		if err != nil {
			return
		}
	}
}

// print writes text to the tail and the log. It ignores errors of the log, because the tail still has the text.
func (o *Output) print(text []byte) {
	if len(text) > 0 {
		_, _ = o.log.Write(text)
	}
}

func (o *Output) take(chunk []byte) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.bytes += int64(len(chunk))
	text := o.masker.Write(chunk)
	_, _ = o.tail.Write(text) // writing to the tail, which is in memory, cannot fail
	return text
}

// End adds the collected output to the result.
func (o *Output) End(r *hostjob.Result) {
	o.mu.Lock()
	rest := o.masker.Flush()
	_, _ = o.tail.Write(rest)
	o.closed = true
	r.Tail, r.Bytes, r.Truncated = o.tail.Text(), o.bytes, o.tail.Cut()
	o.mu.Unlock()
	select {
	case <-o.done:
		o.print(rest)
	default: // the log is blocked, so the last output cannot be added to it
	}
}

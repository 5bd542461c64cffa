// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import (
	"io"
	"sync"

	"github.com/opcrew/opcrew/internal/agents/hostrun/mask"
	"github.com/opcrew/opcrew/internal/agents/shared/tail"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const chunkSize = 32 << 10

// output collects what the command prints. Standard output and standard error share one pipe, which keeps their order.
// The tail is written before the log, because a slow or blocked reader of the log must not affect the tail.
type output struct {
	log  io.Writer
	done chan struct{} // closed when no process holds the pipe open any more

	mu     sync.Mutex
	masker *mask.Masker
	tail   *tail.Tail
	bytes  int64 // number of bytes that the command printed, before secrets were masked
	closed bool
}

func newOutput(log io.Writer, secrets ...string) *output {
	return &output{log: log, done: make(chan struct{}), masker: mask.New(secrets...), tail: tail.New(hostjob.TailSize)}
}

// follow reads the pipe until all processes have closed it. An unrelated process can hold the pipe open for ever, so
// end does not wait for follow.
func (o *output) follow(pipe io.Reader) {
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
func (o *output) print(text []byte) {
	if len(text) > 0 {
		_, _ = o.log.Write(text)
	}
}

func (o *output) take(chunk []byte) []byte {
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

// end adds the collected output to the result.
func (o *output) end(r *hostjob.Result) {
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

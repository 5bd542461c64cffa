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

// output receives what the command prints. Both streams share one pipe, which keeps their order. The tail is written
// before the log, because the log may be read slowly or not at all.
type output struct {
	log  io.Writer
	done chan struct{} // closed when no process holds the pipe open any more

	mu     sync.Mutex
	masker *mask.Masker
	tail   *tail.Tail
	bytes  int64 // bytes printed, before masking
	closed bool
}

func newOutput(log io.Writer, secrets ...string) *output {
	return &output{log: log, done: make(chan struct{}), masker: mask.New(secrets...), tail: tail.New(hostjob.TailSize)}
}

// follow reads until the pipe ends. The pipe may never end if an unrelated process holds it open, so end does not wait
// for it.
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

// print ignores errors: if the log cannot be written, the tail still is.
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
	_, _ = o.tail.Write(text) // the tail is in memory
	return text
}

// end adds the output so far to the result.
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
	default: // the log is blocked by earlier output
	}
}

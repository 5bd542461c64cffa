// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import (
	"io"
	"sync"

	"github.com/opcrew/opcrew/internal/agents/shared/tail"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const chunkSize = 32 << 10

// output takes what the command prints, to both of its streams through one pipe, so that
// the order stays. It goes into the tail first: the log may be read slowly or not at all.
type output struct {
	log  io.Writer
	done chan struct{} // closed when no one has the pipe open any more

	mu     sync.Mutex
	masker *masker
	tail   *tail.Tail
	bytes  int64 // as printed, before anything was masked
	closed bool
}

func newOutput(log io.Writer, secrets ...string) *output {
	return &output{log: log, done: make(chan struct{}), masker: newMasker(secrets...), tail: tail.New(hostjob.TailSize)}
}

// follow reads until the pipe ends. It may never do so, if a process that is none of the
// command's holds it: end does not wait for it.
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

// print cannot fail the command: if no one takes the log, there is still the tail.
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
	text := o.masker.write(chunk)
	_, _ = o.tail.Write(text) // in memory
	return text
}

// end puts into the result what has come until now.
func (o *output) end(r *hostjob.Result) {
	o.mu.Lock()
	rest := o.masker.flush()
	_, _ = o.tail.Write(rest)
	o.closed = true
	r.Tail, r.Bytes, r.Truncated = o.tail.Text(), o.bytes, o.tail.Cut()
	o.mu.Unlock()
	select {
	case <-o.done:
		o.print(rest)
	default: // the log does not take what came before either
	}
}

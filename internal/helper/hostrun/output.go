// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import (
	"io"
	"sync"
)

const chunkSize = 32 << 10

// output takes what the command prints, to both of its streams through one pipe, so that
// the order stays. It goes into the tail first: the log may be read slowly or not at all.
type output struct {
	log  io.Writer
	done chan struct{} // closed when nobody has the pipe open any more

	mu     sync.Mutex
	masker *masker
	tail   *tail
	bytes  int64 // as printed, before anything was masked
	closed bool
}

func newOutput(log io.Writer, secrets ...string) *output {
	return &output{log: log, done: make(chan struct{}), masker: newMasker(secrets...), tail: newTail(tailSize)}
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

// print cannot fail the command: if nobody takes the log, there is still the tail.
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
	o.tail.write(text)
	return text
}

// end puts into the result what has come until now.
func (o *output) end(r *Result) {
	o.mu.Lock()
	rest := o.masker.flush()
	o.tail.write(rest)
	o.closed = true
	r.Tail, r.Bytes, r.Truncated = o.tail.text(), o.bytes, o.tail.cut()
	o.mu.Unlock()
	select {
	case <-o.done:
		o.print(rest)
	default: // the log does not take what came before either
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"
	"io"
	"time"
)

// stream is one open watch of an operator process. Its events pass through a gate, which can delay them.
type stream struct {
	gate     *gate
	resource string
	from     io.ReadCloser
	out      *io.PipeWriter
	pending  []frame // events not yet delivered; the gate's lock protects this and all following fields
	ended    bool    // the server sends no more events
	last     bool    // the stream ends after the pending events
	closed   bool    // the client no longer reads
}

// stream returns a reader for the events of a watch. The gate decides when each event can be read.
func (g *gate) stream(resource string, from io.ReadCloser) io.ReadCloser {
	in, out := io.Pipe()
	s := &stream{gate: g, resource: resource, from: from, out: out}
	g.mu.Lock()
	g.streams[s] = true
	g.mu.Unlock()
	go s.receive()
	go s.deliver()
	return both{in, s}
}

// receive reads events from the server and adds them to pending.
func (s *stream) receive() {
	for decoder := json.NewDecoder(s.from); ; {
		raw := json.RawMessage{}
		err := decoder.Decode(&raw)
		var f frame
		if err == nil {
			f, err = decodeFrame(raw)
		}
		if !s.take(f, err) {
			return
		}
	}
}

func (s *stream) take(f frame, err error) bool {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	defer s.gate.changed.Broadcast()
	if err != nil || s.last {
		s.ended = true
		return false
	}
	if !s.gate.dropped[s.resource] && !s.gate.dropped[everything] {
		s.pending = append(s.pending, f)
	}
	return true
}

// deliver writes events to the client as soon as the gate releases them.
func (s *stream) deliver() {
	defer func() { _ = s.out.Close() }() // Close of a pipe never fails
	for {
		f, wait, ok := s.gate.next(s)
		if !ok {
			return
		}
		if wait > 0 {
			time.Sleep(wait) // this delay of the event is the simulated fault
		}
		if _, err := s.out.Write(f.encode()); err != nil {
			return
		}
	}
}

// Close implements io.Closer. The client calls it to end the watch.
func (s *stream) Close() error {
	s.gate.mu.Lock()
	s.closed = true
	delete(s.gate.streams, s)
	s.gate.changed.Broadcast()
	s.gate.mu.Unlock()
	_ = s.out.Close() // this ends deliver, because the client no longer reads the events
	return s.from.Close()
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"strings"
)

// transport is the HTTP transport of one operator process. It passes all requests through a wire, the object that
// applies faults.
type transport struct {
	*wire
	of   *instance
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.of.dead.Load() {
		return nil, errCrashed
	}
	about := parse(req)
	req = plain(req)
	if about.verb == "watch" {
		return t.watch(req, about)
	}
	if about.counted() {
		t.begins()
		defer t.ends()
	}
	if about.verb == "list" {
		if version := t.of.lookBack(req, about); version != "" {
			t.journal.mark("%s listed as of version %s", about.resource, version)
		}
	}
	if about.write() {
		return t.write(req, about)
	}
	return t.alive(t.next.RoundTrip(req))
}

// plain changes a request that accepts protobuf to accept JSON, because the fault tests can only read JSON responses.
func plain(req *http.Request) *http.Request {
	req = req.Clone(req.Context())
	var accept []string
	for media := range strings.SplitSeq(req.Header.Get("Accept"), ",") {
		if !strings.Contains(media, "protobuf") && !strings.Contains(media, "cbor") {
			accept = append(accept, media)
		}
	}
	req.Header.Set("Accept", strings.Join(accept, ","))
	return req
}

func (t *transport) write(req *http.Request, about target) (*http.Response, error) {
	w, err := newWrite(req, about)
	if err != nil {
		return nil, err
	}
	befalls := t.record(w)
	send := func() (*http.Response, error) {
		resp, err := t.next.RoundTrip(req)
		if err == nil {
			err = w.answered(resp)
		}
		return resp, err
	}
	defer func() { t.journal.add("%s", w) }()
	if befalls == nil {
		return t.alive(send())
	}
	return t.alive(befalls(send))
}

// record adds a write to the list of writes, and returns the fault for the write.
func (t *transport) record(w *write) fault {
	t.mu.Lock()
	t.writes = append(t.writes, w)
	w.n, w.instance = len(t.writes), t.of.id
	befall := t.befall
	t.mu.Unlock()
	if befall == nil {
		return nil
	}
	return befall(w, t.of)
}

// alive returns an error instead of the response if the process has crashed in the meantime.
func (t *transport) alive(resp *http.Response, err error) (*http.Response, error) {
	if !t.of.dead.Load() {
		return resp, err
	}
	if err == nil {
		_ = resp.Body.Close()
	}
	return nil, errCrashed
}

func (t *transport) watch(req *http.Request, about target) (*http.Response, error) {
	if t.of.looksBack() && req.URL.Query().Get("sendInitialEvents") != "" {
		return answer(req, http.StatusUnprocessableEntity, "Invalid", "faults: lists are not streamed in this run"), nil
	}
	resp, err := t.alive(t.next.RoundTrip(req))
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	resp.Body = t.gate.stream(about.resource, resp.Body)
	return resp, nil
}

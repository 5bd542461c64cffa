// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// write is one request of the operator that changes something, as recorded on the way to the server.
type write struct {
	target
	n        int // counts from 1, over all processes of a run
	instance int
	at       time.Time
	body     string
	code     int    // of the server's response; 0 if the request did not reach the server or got no response
	version  uint64 // of the object after the write
	created  bool   // the response was 201
	dry      bool   // dry run, which changes nothing
}

// String formats the write as a line of the journal.
func (w *write) String() string {
	answer := fmt.Sprint(w.code)
	if w.code == 0 {
		answer = "no answer from the server"
	}
	if w.dry {
		answer += " (dry run)"
	}
	return fmt.Sprintf("write %d of process %d: %s -> %s", w.n, w.instance, w.target, answer)
}

// newWrite reads a request's body, which has the name of a created object, and makes the body readable again.
func newWrite(req *http.Request, t target) (*write, error) {
	w := &write{target: t, at: time.Now(), dry: req.URL.Query().Get("dryRun") != ""}
	if req.Body == nil {
		return w, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	req.Body = io.NopCloser(bytes.NewReader(body))
	w.body = string(body)
	if w.name == "" {
		meta := metadataOf(body)
		w.name = meta.Name + meta.GenerateName
	}
	return w, nil
}

// answered records the server's response, and makes its body readable again.
func (w *write) answered(resp *http.Response) error {
	w.code, w.created = resp.StatusCode, resp.StatusCode == http.StatusCreated
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	// A write that removes the last finalizer deletes the object, and its response has the version of the previous
	// write.
	meta := metadataOf(body)
	last := meta.DeletionTimestamp != "" && len(meta.Finalizers) == 0
	if resp.StatusCode < 300 && w.verb != "delete" && !last && !w.dry {
		w.version = versionNumber(meta.ResourceVersion)
	}
	return nil
}

type metadata struct {
	Name, GenerateName, ResourceVersion, DeletionTimestamp string

	Finalizers []string
}

func metadataOf(object []byte) metadata {
	in := struct{ Metadata metadata }{}
	_ = json.Unmarshal(object, &in) // other patch types have no metadata
	return in.Metadata
}

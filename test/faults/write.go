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

// write is a request of the operator that changes something, with the server's response.
type write struct {
	target
	n        int // number of the write, starting at 1, for all processes of a run
	instance int
	at       time.Time
	body     string
	code     int    // status code of the response; 0 if the request did not reach the server or the response was lost
	version  uint64 // resource version of the object after the write
	created  bool   // the response was 201 Created
	dry      bool   // the request was a dry run, which changes nothing
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

// newWrite reads the body of a request to find the name of a created object. It replaces the body, so that the request
// can still be sent.
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

// answered records the server's response. It replaces the response body, so that the operator can still read it.
func (w *write) answered(resp *http.Response) error {
	w.code, w.created = resp.StatusCode, resp.StatusCode == http.StatusCreated
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	// A write that removes the last finalizer deletes the object. The server's response then has the resource version
	// of the previous write, so do not record it.
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
	_ = json.Unmarshal(object, &in) // other types of patches contain no metadata
	return in.Metadata
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdstart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reason is why etcd does not run.
type Reason string

// The reasons. All but EtcdEnded mean that etcd was not started, and come with RefusedCode.
const (
	NoAuthorisation  Reason = "NoAuthorisation"  // the start file says nothing that can be understood
	VolumeLost       Reason = "VolumeLost"       // a member that had a log has none any more
	VolumeForeign    Reason = "VolumeForeign"    // the volume is that of another member
	VolumeUnreadable Reason = "VolumeUnreadable" // what is on the volume cannot be known
	VolumeUnwritable Reason = "VolumeUnwritable" // the volume does not take the marker
	EtcdEnded        Reason = "EtcdEnded"        // by itself, with a failure, or it could not be executed
)

// RefusedCode is the exit code of a container in which etcd was not started.
const RefusedCode = 3

const maxReport = 4096 // what a kubelet takes of a message

// Report is the termination message of a container whose etcd does not run.
type Report struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

func (r Report) Error() string { return string(r.Reason) + ": " + r.Message }

// ParseReport reads a termination message. It can be anything: of another program, or cut off.
// The container must not have its policy FallbackToLogsOnError: then it could be what etcd
// has printed.
func ParseReport(text string) (Report, error) {
	var r Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Report{}, fmt.Errorf("not a report: %w", err)
	}
	if !slices.Contains([]Reason{NoAuthorisation, VolumeLost, VolumeForeign, VolumeUnreadable, VolumeUnwritable, EtcdEnded}, r.Reason) {
		return Report{}, errors.New("not a report: its reason is none that there is")
	}
	return r, nil
}

// Encode fits a report into what a kubelet takes. The end of a message counts most: it is the
// last that etcd has said.
func (r Report) Encode() []byte {
	r.Message = strings.ToValidUTF8(r.Message, "\uFFFD")
	for {
		text := encode(r)
		excess := len(text) - maxReport
		if excess <= 0 {
			return text
		}
		// A byte of the message takes at most six in JSON.
		r.Message = strings.ToValidUTF8(r.Message[max(1, excess/6):], "")
	}
}

func encode(r Report) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // of strings, into memory
	return text.Bytes()
}

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

// Reason is the reason why etcd does not run.
type Reason string

// These are the reasons why etcd does not run. All except EtcdEnded mean that etcd was not started, and that the exit
// code is RefusedCode.
const (
	NoAuthorisation  Reason = "NoAuthorisation"  // the start file is missing or invalid
	VolumeLost       Reason = "VolumeLost"       // the volume of an established member has no log
	VolumeForeign    Reason = "VolumeForeign"    // the volume belongs to another member
	VolumeUnreadable Reason = "VolumeUnreadable" // the volume cannot be read
	VolumeUnwritable Reason = "VolumeUnwritable" // the file that names the volume's owner cannot be written
	EtcdEnded        Reason = "EtcdEnded"        // etcd ended with an error, or could not be executed
)

// RefusedCode is the exit code of the container if etcd was not started.
const RefusedCode = 3

const maxReport = 4096 // kubelets cut off longer messages

// Report is the termination message of a container in which etcd does not run.
type Report struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

func (r Report) Error() string { return string(r.Reason) + ": " + r.Message }

// ParseReport parses a termination message. The message may come from another program, or be cut off. The container
// must not use FallbackToLogsOnError, because then the message could be output of etcd.
func ParseReport(text string) (Report, error) {
	var r Report
	if len(text) > maxReport {
		return Report{}, fmt.Errorf("the termination message is not a report: it has %d bytes, but at most %d are allowed", len(text), maxReport)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Report{}, fmt.Errorf("the termination message is not a report: %w", err)
	}
	if !slices.Contains([]Reason{NoAuthorisation, VolumeLost, VolumeForeign, VolumeUnreadable, VolumeUnwritable, EtcdEnded}, r.Reason) {
		return Report{}, errors.New("the termination message is not a report: its reason is unknown")
	}
	return r, nil
}

// Encode returns the report as JSON that fits into a termination message. It shortens a long message at its start,
// because the end contains the last output of etcd.
func (r Report) Encode() []byte {
	r.Message = strings.ToValidUTF8(r.Message, "\uFFFD")
	for {
		text := encode(r)
		excess := len(text) - maxReport
		if excess <= 0 {
			return text
		}
		// In JSON, one byte of the message needs at most six bytes.
		r.Message = strings.ToValidUTF8(r.Message[max(1, excess/6):], "")
	}
}

func encode(r Report) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // encoding strings cannot fail
	return text.Bytes()
}

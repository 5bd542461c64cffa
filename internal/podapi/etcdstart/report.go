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

// The reasons. All but EtcdEnded mean that etcd was not started; the exit code is then RefusedCode.
const (
	NoAuthorisation  Reason = "NoAuthorisation"  // the start file is missing or not valid
	VolumeLost       Reason = "VolumeLost"       // a member has lost its log
	VolumeForeign    Reason = "VolumeForeign"    // the volume belongs to another member
	VolumeUnreadable Reason = "VolumeUnreadable" // the volume cannot be read
	VolumeUnwritable Reason = "VolumeUnwritable" // the marker cannot be written
	EtcdEnded        Reason = "EtcdEnded"        // etcd failed, or could not be executed
)

// RefusedCode is the exit code of a container in which etcd was not started.
const RefusedCode = 3

const maxReport = 4096 // kubelets cut longer messages off

// Report is the termination message of a container whose etcd does not run.
type Report struct {
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

func (r Report) Error() string { return string(r.Reason) + ": " + r.Message }

// ParseReport reads a termination message, which may come from another program or be cut off. The container must not
// use FallbackToLogsOnError, because the message could then be output of etcd.
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

// Encode returns a text that fits into a termination message. It keeps the end of a long message,
// which has the last output of etcd.
func (r Report) Encode() []byte {
	r.Message = strings.ToValidUTF8(r.Message, "\uFFFD")
	for {
		text := encode(r)
		excess := len(text) - maxReport
		if excess <= 0 {
			return text
		}
		// A byte of the message takes at most six bytes in JSON.
		r.Message = strings.ToValidUTF8(r.Message[max(1, excess/6):], "")
	}
}

func encode(r Report) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // strings can always be encoded
	return text.Bytes()
}

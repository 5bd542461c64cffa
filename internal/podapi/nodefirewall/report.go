// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodefirewall

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

const (
	// MaxReport is the maximum size of an encoded report, in bytes.
	MaxReport  = 8 << 10
	maxMessage = 500
)

// Report is what an agent reports about its node.
type Report struct {
	// Active has the revision of each pool's rules that are in the kernel, as the agent read them back.
	Active map[string]string `json:"active,omitempty"`
	// Refused has the revisions of the rules that the agent reverted, or that the kernel did not accept.
	Refused map[string]string `json:"refused,omitempty"`
	// Message says why rules are refused.
	Message string `json:"message,omitempty"`
	// Others are other firewalls of the host, whose rules hold as well.
	Others []string `json:"others,omitempty"`
	// Opened has the revision of each pool's rules that the other firewalls have as well.
	Opened map[string]string `json:"opened,omitempty"`
	// HostPools are the pools whose rules other firewalls may have.
	HostPools []string `json:"hostPools,omitempty"`
	// HostMessage says why other firewalls do not have the rules of Opened.
	HostMessage string `json:"hostMessage,omitempty"`
}

// EncodeReport returns the value of ReportAnnotation.
func EncodeReport(r Report) (string, error) {
	r.Message, r.HostMessage = shorten(r.Message), shorten(r.HostMessage)
	text, err := json.Marshal(r)
	if err == nil && len(text) > MaxReport {
		err = fmt.Errorf("the report has %d bytes, but at most %d fit", len(text), MaxReport)
	}
	return string(text), err
}

// ParseReport parses the value of ReportAnnotation. It ignores unknown fields, because an operator must understand
// agents of later versions. A text from a node is hostile, so control characters do not get into a status.
func ParseReport(text string) (Report, error) {
	var r Report
	if err := decode(text, MaxReport, false, &r); err != nil {
		return Report{}, fmt.Errorf("the report of the firewall agent cannot be read: %w", err)
	}
	r.Message, r.HostMessage = shorten(r.Message), shorten(r.HostMessage)
	for i, other := range r.Others {
		r.Others[i] = shorten(other)
	}
	return r, nil
}

func shorten(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "..."
}

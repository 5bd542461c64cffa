// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodefirewall

import (
	"encoding/json"
	"fmt"
	"time"
)

const (
	// HostName is the name of the DaemonSet of the agents that open ports in firewalld and ufw.
	HostName = "opcrew-host-firewall"
	// OrderFile is the file in StateDir with what the firewall agent of the node orders.
	OrderFile = "host-order.json"
	// ResultFile is the file in StateDir with the answer.
	ResultFile = "host-result.json"
	// HostDoubtFile is the file in StateDir that exists while it is not certain that ufw has in the kernel what it lists.
	HostDoubtFile = "host-doubt"
	// maxHostFile is the maximum size of both files, in bytes.
	maxHostFile = 4 << 20
	mostTools   = 8
)

// HostOrder has the rules that firewalld or ufw must allow as well, because they drop packets after opcrew allows them.
type HostOrder struct {
	// ID differs from that of every earlier order of the host, so that no answer to one of them counts.
	ID int64 `json:"id"`
	// Pools are the pools whose rules are ordered. Former are those whose rules may still be there.
	Pools  []string `json:"pools,omitempty"`
	Former []string `json:"former,omitempty"`
	Rules  []Rule   `json:"rules,omitempty"`
}

// HostResult is what the agent that changes firewalld and ufw answers to an order.
type HostResult struct {
	// Revision is that of the order's text.
	Revision string `json:"revision"`
	// Tools are the firewalls that run on the host, and have the rules if there is no message.
	Tools []string `json:"tools,omitempty"`
	// Message says why a firewall does not have all rules.
	Message string `json:"message,omitempty"`
	// Checked is when the agent last compared the firewalls with the order.
	Checked time.Time `json:"checked"`
}

// Done reports whether the host's firewalls have exactly the rules of an order.
func (r HostResult) Done(order string) bool { return r.Revision == Revision(order) && r.Message == "" }

// EncodeOrder returns the text of an order.
func EncodeOrder(o HostOrder) (string, error) {
	text, err := json.Marshal(o)
	if err == nil && len(text) > maxHostFile {
		err = fmt.Errorf("the order for the host's firewall has %d bytes, but at most %d are read", len(text), maxHostFile)
	}
	return string(text), err
}

// ParseOrder parses an order. It refuses unknown fields, as ParsePool does.
func ParseOrder(text string) (HostOrder, error) {
	var o HostOrder
	if err := decode(text, maxHostFile, true, &o); err != nil {
		return HostOrder{}, fmt.Errorf("the order for the host's firewall cannot be read: %w", err)
	}
	return o, checkRules(o.Rules)
}

// EncodeResult returns the text of a result.
func EncodeResult(r HostResult) (string, error) {
	r.Message = shorten(r.Message)
	text, err := json.Marshal(r)
	return string(text), err
}

// ParseResult parses a result.
func ParseResult(text string) (HostResult, error) {
	var r HostResult
	if err := decode(text, maxHostFile, false, &r); err != nil {
		return HostResult{}, fmt.Errorf("the result of the host's firewall cannot be read: %w", err)
	}
	r.Message, r.Tools = shorten(r.Message), r.Tools[:min(len(r.Tools), mostTools)]
	for i, tool := range r.Tools {
		r.Tools[i] = shorten(tool)
	}
	return r, nil
}

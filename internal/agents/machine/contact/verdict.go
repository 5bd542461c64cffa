// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package contact

import (
	"fmt"
	"slices"
	"time"
)

const (
	// CutOffTime is how long a node without any contact waits before it reverts, so that it is back within a minute.
	CutOffTime = 45 * time.Second
	// BootTime is the same after a reboot. The API server may run on this node, and needs time to start.
	BootTime = 3 * time.Minute
	// OutageTime is how long a node waits for the API server while it reaches a peer. An outage of the API server is then
	// as likely as an effect of the change.
	OutageTime = 10 * time.Minute
)

// Contacts are the machines that a node reaches.
type Contacts struct {
	API bool `json:"api,omitempty"`
	// Peers are the names of other nodes.
	Peers []string `json:"peers,omitempty"`
}

// With returns the contacts of two measurements.
func (c Contacts) With(other Contacts) Contacts {
	peers := slices.Concat(c.Peers, other.Peers)
	slices.Sort(peers)
	return Contacts{API: c.API || other.API, Peers: slices.Compact(peers)}
}

// Input is what the verdict depends on.
type Input struct {
	Before, Now Contacts
	// Elapsed is the time since the change was complete, or since the boot that it required. While the node has a contact
	// that counts, it is Silent for 0; otherwise since the last one, or since the change.
	Elapsed, Silent time.Duration
	// Rebooted is set if the change required a reboot.
	Rebooted bool
}

func (in Input) patience() time.Duration {
	if in.Rebooted {
		return BootTime
	}
	return CutOffTime
}

// Verdict is what follows for the change.
type Verdict string

// The verdicts.
const (
	Wait      Verdict = "Wait"
	Confirmed Verdict = "Confirmed"
	Revert    Verdict = "Revert"
)

// rule returns a verdict with its reason, or nothing if it does not apply.
type rule func(in Input) (Verdict, string)

// rules are in the order of their precedence.
var rules = []rule{hasAPI, hadNothing, hadOnlyPeers, isCutOff, lacksAPI}

// Judge returns the verdict of the first rule that applies, and its reason as part of a sentence.
func Judge(in Input) (Verdict, string) {
	for _, r := range rules {
		if verdict, reason := r(in); verdict != "" {
			return verdict, reason
		}
	}
	return Wait, "the node is without contact for " + in.Silent.Round(time.Second).String()
}

// hasAPI confirms a change as soon as the node can be given another one.
func hasAPI(in Input) (Verdict, string) {
	if !in.Now.API {
		return "", ""
	}
	lost := lostPeers(in)
	if len(lost) == 0 {
		return Confirmed, "the node reaches the API server"
	}
	return Confirmed, fmt.Sprintf("the node reaches the API server, but no longer %v", lost)
}

// hadNothing waits, because a revert could not bring back a contact that was not there.
func hadNothing(in Input) (Verdict, string) {
	if in.Before.API || len(in.Before.Peers) > 0 {
		return "", ""
	}
	if in.Elapsed < OutageTime && len(in.Now.Peers) == 0 {
		return Wait, "the node had no contact before the change, and has none now"
	}
	return Confirmed, "the node had no contact before the change, so the change did not cut it off"
}

// hadOnlyPeers confirms a change during an outage of the API server, because the node has what it had before.
func hadOnlyPeers(in Input) (Verdict, string) {
	if in.Before.API || !reachesPeer(in) {
		return "", ""
	}
	return Confirmed, "the node reaches a peer, as before the change"
}

// isCutOff reverts a change after which the node is alone.
func isCutOff(in Input) (Verdict, string) {
	if reachesPeer(in) || in.Silent < in.patience() {
		return "", ""
	}
	return Revert, fmt.Sprintf("the node reached neither the API server nor a peer for %s", in.patience())
}

// lacksAPI reverts a change after which only the API server is out of reach: no one could correct the change.
func lacksAPI(in Input) (Verdict, string) {
	switch {
	case !in.Before.API || in.Elapsed < OutageTime && !reachesPeer(in):
		return "", ""
	case in.Elapsed < OutageTime:
		return Wait, "the node reaches a peer, but not the API server"
	}
	return Revert, fmt.Sprintf("the node did not reach the API server for %s", OutageTime)
}

// reachesPeer reports whether the node reaches a peer that it reached before.
func reachesPeer(in Input) bool {
	return slices.ContainsFunc(in.Before.Peers, func(peer string) bool { return slices.Contains(in.Now.Peers, peer) })
}

func lostPeers(in Input) []string {
	return slices.DeleteFunc(slices.Clone(in.Before.Peers), func(peer string) bool { return slices.Contains(in.Now.Peers, peer) })
}

// Counts reports whether the node has a contact that ends its silence.
func Counts(before, now Contacts) bool {
	return now.API || reachesPeer(Input{Before: before, Now: now})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package contact

import (
	"strings"
	"testing"
	"time"
)

func TestANodeThatIsCutOffReverts(t *testing.T) {
	api, peers, both, nothing := Contacts{API: true}, Contacts{Peers: []string{"a", "b"}}, Contacts{API: true, Peers: []string{"a", "b"}}, Contacts{}
	other, one := Contacts{Peers: []string{"c"}}, Contacts{Peers: []string{"b"}}
	const second, minute = time.Second, time.Minute
	for _, test := range []struct {
		name            string
		before, now     Contacts
		elapsed, silent time.Duration
		want            Verdict
		reason          string
	}{
		{"API server again", both, both, second, 0, Confirmed, "reaches the API server"},
		{"API server, no peers", both, api, second, 0, Confirmed, "no longer [a b]"},
		{"API server late", both, api, time.Hour, 0, Confirmed, "reaches the API server"},
		{"alone, not for long", both, nothing, 44 * second, 44 * second, Wait, "44s"},
		{"alone", both, nothing, 45 * second, 45 * second, Revert, "neither"},
		{"rebooted, alone", both, nothing, 2 * minute, 2 * minute, Wait, "2m"},
		{"rebooted, alone for long", both, nothing, 3 * minute, 3 * minute, Revert, "neither"},
		{"alone again after a contact", both, nothing, 5 * minute, 30 * second, Wait, "30s"},
		{"alone, without peers before", api, nothing, minute, minute, Revert, "neither"},
		{"alone, only peers before", peers, nothing, minute, minute, Revert, "neither"},
		{"only a peer, API server before", both, one, minute, 0, Wait, "but not the API server"},
		{"only a peer for long", both, one, 10 * minute, 0, Revert, "did not reach the API server"},
		{"only a peer, as before", peers, one, second, 0, Confirmed, "as before"},
		{"only another peer", both, other, minute, minute, Revert, "neither"},
		{"contacts come and go", both, nothing, 10 * minute, second, Revert, "did not reach the API server"},
		{"peers come and go, only peers before", peers, nothing, 20 * minute, second, Wait, "1s"},
		{"nothing before", nothing, nothing, minute, minute, Wait, "no contact before"},
		{"nothing before, for long", nothing, nothing, 10 * minute, 10 * minute, Confirmed, "did not cut it off"},
		{"nothing before, a peer now", nothing, other, second, 0, Confirmed, "did not cut it off"},
		{"nothing before, API server now", nothing, api, second, 0, Confirmed, "reaches the API server"},
	} {
		got, reason := Judge(Input{Before: test.before, Now: test.now, Elapsed: test.elapsed, Silent: test.silent, Rebooted: strings.HasPrefix(test.name, "rebooted")})
		if got != test.want || !strings.Contains(reason, test.reason) {
			t.Errorf("%s: expected %s with %q, got %s with %q", test.name, test.want, test.reason, got, reason)
		}
		if ends := Counts(test.before, test.now); ends && test.silent > 0 {
			t.Errorf("%s: a node with contact is not silent", test.name)
		}
	}
}

func TestEveryTrialEnds(t *testing.T) {
	sets := []Contacts{{}, {API: true}, {Peers: []string{"a"}}, {API: true, Peers: []string{"a"}}, {Peers: []string{"b"}}}
	for _, before := range sets {
		for _, now := range sets {
			silent := time.Duration(0)
			if !Counts(before, now) {
				silent = time.Hour
			}
			if got, reason := Judge(Input{Before: before, Now: now, Elapsed: time.Hour, Silent: silent}); got == Wait {
				t.Errorf("%+v, then %+v: expected a verdict after an hour, got %s", before, now, reason)
			}
		}
	}
}

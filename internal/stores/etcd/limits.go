// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

const (
	// mostAnswer is the largest answer of a member that is received, in bytes: 64 members with all their URLs have 150 KiB, and
	// nothing else that is asked is longer. The client's own limit is 2 GiB.
	mostAnswer = 256 << 10
	// mostHeaders is the size of the headers of an answer, which carry the text of an error.
	mostHeaders = 32 << 10
	// window is how much a member may send before it is read; the least that gRPC can be set to. Otherwise it grows to 16 MiB.
	window = 64 << 10
	// mostMembers is the number of members that is accepted. etcd recommends 7 at most.
	mostMembers = 64
	// mostURLs and mostURL are how many URLs a member may publish, and their length.
	mostURLs, mostURL = 8, 300
	// mostName is the longest name of a member: that of its pod.
	mostName = 253
	// mostTroubles is how many errors of a member are kept, such as two alarms of each member, and mostTrouble the length of one.
	mostTroubles, mostTrouble = 2*mostMembers + 8, 256
	// mostWord is the longest version.
	mostWord = 64
)

// checked refuses a list of members that no cluster has.
func checked(members []Member) error {
	if len(members) > mostMembers {
		return fmt.Errorf("the response lists %d members, but at most %d are accepted", len(members), mostMembers)
	}
	for _, m := range members {
		if err := m.check(); err != nil {
			return fmt.Errorf("the response lists a member %016x %w", m.ID, err)
		}
	}
	return nil
}

func (m Member) check() error {
	switch {
	case !plain.Words(m.Name, mostName):
		return fmt.Errorf("whose name is longer than %d bytes or has characters that cannot be printed", mostName)
	case len(m.PeerURLs) > mostURLs || len(m.ClientURLs)+len(m.Foreign) > mostURLs:
		return fmt.Errorf("with more than %d URLs", mostURLs)
	}
	for _, urls := range [][]string{m.PeerURLs, m.ClientURLs, m.Foreign} {
		for _, url := range urls {
			if !plain.Words(url, mostURL) {
				return fmt.Errorf("with a URL that is longer than %d bytes or has characters that cannot be printed", mostURL)
			}
		}
	}
	return nil
}

// shortened are the errors of a member, for a message.
func shortened(errors []string) []string {
	var out []string
	for _, line := range errors[:min(len(errors), mostTroubles)] {
		out = append(out, plain.Line(line, mostTrouble))
	}
	return out
}

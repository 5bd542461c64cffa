// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/plain"
)

const (
	// mostAnswer is the maximum size of a member's response, in bytes. A list of 64 members with all URLs has 150 KiB,
	// and no other response is larger. The client's default is 2 GiB.
	mostAnswer = 256 << 10
	// mostHeaders is the maximum size of a response's headers in bytes. They contain the text of an error.
	mostHeaders = 32 << 10
	// window is the number of bytes that a member may send before opcrew has read them. It is the smallest window that
	// gRPC accepts. By default the window grows to 16 MiB.
	window = 64 << 10
	// mostMembers is the maximum number of members in a list. etcd recommends at most 7.
	mostMembers = 64
	// mostURLs is the maximum number of URLs per member, and mostURL their maximum length.
	mostURLs, mostURL = 8, 300
	// mostName is the maximum length of a member's name, which is the name of its pod.
	mostName = 253
	// mostTroubles is how many errors of a member are kept, which allows for two alarms per member. mostTrouble is the
	// maximum length of one error.
	mostTroubles, mostTrouble = 2*mostMembers + 8, 256
	// mostWord is the maximum length of a version.
	mostWord = 64
)

// checked returns an error if a list of members is larger than that of any real cluster. Such a list comes from a
// broken or hostile member.
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

// shortened returns a member's errors, limited in number and length for messages.
func shortened(errors []string) []string {
	var out []string
	for _, line := range errors[:min(len(errors), mostTroubles)] {
		out = append(out, plain.Line(line, mostTrouble))
	}
	return out
}

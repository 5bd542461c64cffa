// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/redisserver"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// Pod is a test pod with two Redis servers and their volume.
type Pod struct {
	*volume
	Home, Guest *Server
}

// New returns a Pod whose servers are not started.
func New(t testing.TB) *Pod {
	t.Helper()
	p := &Pod{volume: newVolume(t)}
	p.Accept(Password)
	p.put(redispod.UsernameFile, Username)
	p.put(redispod.PasswordFile, SystemPassword)
	p.Home = &Server{volume: p.volume, place: redisserver.Home, Port: FreePort(t)}
	p.Guest = &Server{volume: p.volume, place: redisserver.Guest, Port: FreePort(t)}
	return p
}

// Accept sets the valid passwords in the Secret of the users.
func (p *Pod) Accept(passwords ...string) {
	p.Helper()
	var hashes []string
	for _, password := range passwords {
		hashes = append(hashes, redispod.Hash(password))
	}
	p.put(redispod.AcceptedFile, strings.Join(hashes, "\n"))
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"slices"
	"strings"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// Authorized returns the lines of the clients' authorized_keys. They are always in the same order, so that a step that
// only changes the roles of keys changes nothing at the clients.
func (r *Ring) Authorized(extra []string) string {
	lines := append([]string{r.Current.Public}, extra...)
	if r.Next != nil {
		lines = append(lines, r.Next.Public)
	}
	if r.Previous != "" {
		lines = append(lines, r.Previous)
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// Host is a client as its sshd proves its identity. One of an earlier version has the key that all of them share.
type Host struct {
	Name   string
	Shared bool
}

// ClientFiles are what a client's agent serves, by the names of the files.
func (r *Ring) ClientFiles(extra []string, host Host) map[string][]byte {
	files := r.hostFiles(host)
	files["authorized_keys"] = []byte(r.Authorized(extra))
	return files
}

func (r *Ring) hostFiles(host Host) map[string][]byte {
	if !host.Shared {
		if files, err := sshkeys.HostFiles([]byte(r.Seed), host.Name); err == nil {
			return files
		}
	}
	if r.Shared == nil {
		return map[string][]byte{}
	}
	return map[string][]byte{sshkeys.HostKeyFile: r.Shared.Private, sshkeys.HostKeyFile + ".pub": []byte(r.Shared.Public + "\n")}
}

// ManagerFiles are what a manager's agent serves. clients are those that it is to know.
func (r *Ring) ManagerFiles(d *opsv1.Diva, clients []string) map[string][]byte {
	files := map[string][]byte{"known_hosts": []byte(r.Known(d, clients))}
	if first, next := r.identities(); next != nil {
		files["identity"], files["identity-next"] = first.Private, next.Private
	}
	return files
}

// identities returns the manager's two private keys; nil for a key that the manager already has. Both are the same,
// except during a switch. ssh reads a key once to offer it and once more to sign, and fails if it has changed in
// between. It then tries the other key, so only one of them changes at a time.
func (r *Ring) identities() (first, next *keys.Pair) {
	switch {
	case !r.Identity:
		return nil, nil
	case r.Former != nil:
		return r.Former, r.Current
	}
	return r.Current, r.Current
}

// Manager is the role of managers, as the label app.kubernetes.io/component of their pods has it.
const Manager = "manager"

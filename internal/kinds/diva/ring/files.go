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

// Authorized returns the authorized_keys file of the client pods. The lines are sorted, so that the file does not
// change when a key only changes its role, such as from next to current.
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

// Host identifies a client pod by its host key. Shared is true for a client pod that an earlier version of opcrew
// created; all such pods share one host key.
type Host struct {
	Name   string
	Shared bool
}

// ClientFiles returns the files that the agent of a client pod serves, by file name.
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

// ManagerFiles returns the files that the agent of a manager pod serves, by file name. clients are the client pods
// whose host keys the manager pod must know.
func (r *Ring) ManagerFiles(d *opsv1.Diva, clients []string) map[string][]byte {
	files := map[string][]byte{"known_hosts": []byte(r.Known(d, clients))}
	if first, next := r.identities(); next != nil {
		files["identity"], files["identity-next"] = first.Private, next.Private
	}
	return files
}

// identities returns the two private keys that the manager pods get; nil if they keep the keys that they have. The keys
// differ only during a key change. ssh reads a key twice per login. If the first key changed in between, ssh cannot use
// it and tries the second key.
func (r *Ring) identities() (first, next *keys.Pair) {
	switch {
	case !r.Identity:
		return nil, nil
	case r.Former != nil:
		return r.Former, r.Current
	}
	return r.Current, r.Current
}

// Manager is the value of the label app.kubernetes.io/component on manager pods.
const Manager = "manager"

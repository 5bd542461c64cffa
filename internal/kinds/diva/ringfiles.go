// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"slices"
	"strings"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// authorized are the lines that clients let in: in one order, so that a step that changes
// what they stand for and not what they are changes nothing at the clients.
func (r *ring) authorized(extra []string) string {
	lines := append([]string{r.current.public}, extra...)
	if r.next != nil {
		lines = append(lines, r.next.public)
	}
	if r.previous != "" {
		lines = append(lines, r.previous)
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// known are the lines by which the manager knows clients: all of them have the same key.
func (r *ring) known(d *opsv1.Diva) string {
	id := clients(d)
	short := id.Name + "." + id.Namespace
	patterns := []string{"*." + short + ".svc", "*." + short + ".svc.*", "*." + short, "*." + id.Name, id.Name + "-*"}
	if port := sshPort(d); port != opsv1.DefaultSSHPort {
		for i := range patterns {
			patterns[i] = fmt.Sprintf("[%s]:%d", patterns[i], port)
		}
	}
	var out strings.Builder
	for _, key := range append(r.hostPublic(), r.formerHosts...) {
		fmt.Fprintf(&out, "%s %s\n", strings.Join(patterns, ","), key)
	}
	return out.String()
}

// hostPublic is the host's public key, or nothing.
func (r *ring) hostPublic() []string {
	if r.host == nil {
		return nil
	}
	return []string{r.host.public}
}

// clientFiles are what a client's helper serves, by the names of the files.
func (r *ring) clientFiles(extra []string) map[string][]byte {
	files := map[string][]byte{"authorized_keys": []byte(r.authorized(extra))}
	if r.host != nil {
		files["ssh_host_ed25519_key"], files["ssh_host_ed25519_key.pub"] = r.host.private, []byte(r.host.public+"\n")
	}
	return files
}

// managerFiles are what a manager's helper serves.
func (r *ring) managerFiles(d *opsv1.Diva) map[string][]byte {
	files := map[string][]byte{"known_hosts": []byte(r.known(d))}
	if first, next := r.identities(); next != nil {
		files["identity"], files["identity-next"] = first.private, next.private
	}
	return files
}

// identities are the two private keys that the manager has, nil for those that it has
// already. They are the same, but for the time of a switch: ssh reads a key once to offer it
// and once more to sign, and does not log in with one that was changed between. It then
// tries the other, so only one of them is changed at a time.
func (r *ring) identities() (first, next *pair) {
	switch {
	case !r.identity:
		return nil, nil
	case r.former != nil:
		return r.former, r.current
	}
	return r.current, r.current
}

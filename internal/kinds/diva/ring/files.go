// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"slices"
	"strings"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
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

// Known returns the lines of the manager's known_hosts. All clients have the same host key.
func (r *Ring) Known(d *opsv1.Diva) string {
	id := names.Clients(d)
	short := id.Name + "." + id.Namespace
	patterns := []string{"*." + short + ".svc", "*." + short + ".svc.*", "*." + short, "*." + id.Name, id.Name + "-*"}
	if port := names.SSHPort(d); port != opsv1.DefaultSSHPort {
		for i := range patterns {
			patterns[i] = fmt.Sprintf("[%s]:%d", patterns[i], port)
		}
	}
	var out strings.Builder
	for _, key := range append(r.hostPublic(), r.FormerHosts...) {
		fmt.Fprintf(&out, "%s %s\n", strings.Join(patterns, ","), key)
	}
	return out.String()
}

// hostPublic returns the host's public key, or nothing if there is none.
func (r *Ring) hostPublic() []string {
	if r.Host == nil {
		return nil
	}
	return []string{r.Host.Public}
}

// ClientFiles returns the files that a client's agent serves, by name.
func (r *Ring) ClientFiles(extra []string) map[string][]byte {
	files := map[string][]byte{"authorized_keys": []byte(r.Authorized(extra))}
	if r.Host != nil {
		files["ssh_host_ed25519_key"], files["ssh_host_ed25519_key.pub"] = r.Host.Private, []byte(r.Host.Public+"\n")
	}
	return files
}

// ManagerFiles returns the files that a manager's agent serves, by name.
func (r *Ring) ManagerFiles(d *opsv1.Diva) map[string][]byte {
	files := map[string][]byte{"known_hosts": []byte(r.Known(d))}
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

// The roles of pods, as values of their label app.kubernetes.io/component.
const (
	Client  = "client"
	Manager = "manager"
)

// Digests returns the digests of the files that pods should serve, by role.
func (r *Ring) Digests(d *opsv1.Diva) map[string]string {
	return map[string]string{
		Client:  sshkeys.Digest(r.ClientFiles(keys.Extra(d))),
		Manager: sshkeys.Digest(r.ManagerFiles(d)),
	}
}

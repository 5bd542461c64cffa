// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"fmt"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// Status returns the status of the SSH keys.
func (p Pods) Status(d *opsv1.Diva, r *ring.Ring) *opsv1.SSHStatus {
	out := &opsv1.SSHStatus{
		Phase: r.Phase(), Fingerprint: keys.Fingerprint(r.Current.Public), PublicKey: r.Current.Public,
		PreviousFingerprint: keys.Fingerprint(r.Previous), FormerHostKeys: r.FormerShared,
	}
	switch {
	case r.Shared != nil:
		out.HostKey = r.Shared.Public
	case p.Sharing && d.Status.SSH != nil: // running client pods still have the host key that the status records
		out.HostKey, out.FormerHostKeys = d.Status.SSH.HostKey, d.Status.SSH.FormerHostKeys
	}
	switch {
	case r.Next != nil:
		out.PreviousFingerprint, out.Fingerprint = out.Fingerprint, keys.Fingerprint(r.Next.Public)
	case !r.Identity:
		out.PublicKey = r.Previous
	case p.Retiring(d, r):
		out.Phase, out.PreviousFingerprint = opsv1.SSHRetiring, d.Status.SSH.PreviousFingerprint
	}
	return out
}

// Progress describes how many pods have completed the current phase of a key change. The status records the phase.
func (p Pods) Progress(d *opsv1.Diva, r *ring.Ring) string {
	all, s := len(p.Clients), d.Status.SSH
	switch s.Phase {
	case opsv1.SSHAuthorizing:
		return fmt.Sprintf("%d of %d clients accept the new key %s%s", all-p.clientsBehind(d, r), all, s.Fingerprint, p.firstBehind(d, r))
	case opsv1.SSHSwitching:
		managers := len(p.Managers)
		return fmt.Sprintf("%d of %d managers log in with the new key %s", managers-p.managersBehind(d, r), managers, s.Fingerprint)
	}
	return fmt.Sprintf("%d of %d clients no longer accept the previous key %s%s", all-p.clientsBehind(d, r), all, s.PreviousFingerprint, p.firstBehind(d, r))
}

// KeyStays returns the end of a message about an invalid key that the user provides: which key stays in use, and
// whether a key change in progress continues.
func (p Pods) KeyStays(d *opsv1.Diva, r *ring.Ring) string {
	text := "; the current key stays in use: " + keys.Fingerprint(d.Status.SSH.PublicKey)
	if d.Status.SSH.Phase == opsv1.SSHInUse {
		return text
	}
	return text + "; a key change that has already started continues: " + p.Progress(d, r)
}

// firstBehind names the first client pod that does not serve the files of the current step of a key change.
func (p Pods) firstBehind(d *opsv1.Diva, r *ring.Ring) string {
	for _, pod := range p.Clients {
		if !serves(d, r, pod) {
			return "; waiting for client " + pod.Name
		}
	}
	return ""
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"slices"
	"strings"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// inPlace is the ring that the Secret holds after what was done: a step that was not written
// is none.
func inPlace(f facts, decided decision, done kit.Outcome) *ring {
	written := slices.ContainsFunc(done.Results, func(result ensure.Result) bool {
		return result.Ref.Kind == "Secret" && slices.Contains([]ensure.Action{ensure.Created, ensure.Applied, ensure.Repaired, ensure.Unchanged}, result.Action)
	})
	if written {
		return decided.ring
	}
	return f.ring
}

// retiring reports whether clients may still let in the key before.
func (f facts) retiring(d *opsv1.Diva, r *ring) bool {
	s := d.Status.SSH
	return s != nil && (s.Phase == opsv1.SSHSwitching || s.Phase == opsv1.SSHRetiring) &&
		r.phase() == opsv1.SSHInUse && f.clientsLag(d, r) > 0
}

// sshStatus is pure: which keys are in use.
func sshStatus(d *opsv1.Diva, f facts, r *ring) *opsv1.SSHStatus {
	out := &opsv1.SSHStatus{
		Phase: r.phase(), Fingerprint: fingerprint(r.current.public), PublicKey: r.current.public,
		PreviousFingerprint: fingerprint(r.previous), FormerHostKeys: r.formerHosts,
	}
	switch {
	case r.host != nil:
		out.HostKey = r.host.public
	case d.Status.SSH != nil: // what clients go on with that run
		out.HostKey, out.FormerHostKeys = d.Status.SSH.HostKey, d.Status.SSH.FormerHostKeys
	}
	switch {
	case r.next != nil:
		out.PreviousFingerprint, out.Fingerprint = out.Fingerprint, fingerprint(r.next.public)
	case !r.identity:
		out.PublicKey = r.previous
	case f.retiring(d, r):
		out.Phase, out.PreviousFingerprint = opsv1.SSHRetiring, d.Status.SSH.PreviousFingerprint
	}
	return out
}

func reportSSH(set condition.Set, d *opsv1.Diva, f facts, decided decision, done kit.Outcome) {
	const kind = opsv1.DivaSSHReady
	r := inPlace(f, decided, done)
	if r != nil {
		d.Status.SSH = sshStatus(d, f, r)
	}
	switch {
	case decided.key != nil && r != nil:
		set.False(kind, decided.key.reason, decided.key.message+f.stays(d, r))
	case decided.key != nil:
		set.False(kind, decided.key.reason, decided.key.message)
	case r == nil:
		applying(set, kind, "The key pair is being made")
	case !r.identity:
		set.False(kind, opsv1.ReasonKeyLost, fmt.Sprintf("Secret %s was lost while pods run; %s. Logins go on with the old key, and a manager that starts waits", secretName(d), f.progress(d, r)))
	case d.Status.SSH.Phase != opsv1.SSHInUse:
		set.True(kind, opsv1.ReasonRotating, f.progress(d, r))
	default:
		set.True(kind, opsv1.ReasonKeysInPlace, "The manager logs in with "+d.Status.SSH.Fingerprint)
	}
}

// stays says which key is in use while one that is given is of no use, and that a change
// that was begun before goes on: the key that comes is another one than either.
func (f facts) stays(d *opsv1.Diva, r *ring) string {
	text := "; the key that is in use stays: " + fingerprint(d.Status.SSH.PublicKey)
	if d.Status.SSH.Phase == opsv1.SSHInUse {
		return text
	}
	return text + "; a change that was begun before goes on: " + f.progress(d, r)
}

// progress says how far a change of the pair has come.
func (f facts) progress(d *opsv1.Diva, r *ring) string {
	all, s := len(f.boundClients()), d.Status.SSH
	switch s.Phase {
	case opsv1.SSHAuthorizing:
		return fmt.Sprintf("%d of %d clients let in the new key %s%s", all-f.clientsLag(d, r), all, s.Fingerprint, f.waiting(d, r))
	case opsv1.SSHSwitching:
		managers := len(f.boundManagers())
		return fmt.Sprintf("%d of %d managers log in with the new key %s", managers-f.managersLag(d, r), managers, s.Fingerprint)
	}
	return fmt.Sprintf("%d of %d clients let in the previous key %s no more%s", all-f.clientsLag(d, r), all, s.PreviousFingerprint, f.waiting(d, r))
}

// waiting names the first client that is waited for.
func (f facts) waiting(d *opsv1.Diva, r *ring) string {
	wanted := wantedDigests(d, r)
	for _, pod := range f.boundClients() {
		if f.serving[string(pod.UID)] != wanted[role(pod)] {
			return "; waiting for " + pod.Name
		}
	}
	return ""
}

// reportKeys warns of keys that are of no use, or stand where many can read them.
func reportKeys(set condition.Set, d *opsv1.Diva) {
	const kind = opsv1.DivaKeyWarning
	reason, words := "", []string(nil)
	if hasInline(d) {
		reason = opsv1.ReasonInlineKey
		words = append(words, "whoever may read this object can read spec.privateKey; use ssh.secretRef with another key, or leave it out and then set annotation "+opsv1.RotateAnnotation+", as the key stays in use until then")
	}
	if _, bad := parsePublic(d.Spec.PublicKey); len(bad) > 0 {
		reason = opsv1.ReasonPublicKeyUnusable
		words = append(words, fmt.Sprintf("spec.publicKey, line %d, is no public key and is not used; write it whole, or leave it out", bad[0]))
	}
	if len(words) == 0 {
		set.Remove(kind)
		return
	}
	set.True(kind, reason, strings.Join(words, "; "))
}

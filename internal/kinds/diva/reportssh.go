// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// inPlace is the ring that the Secret holds after the plan was carried out: a step that was not written did not happen.
func inPlace(name string, observed, decided *ring.Ring, done kit.Outcome) *ring.Ring {
	written := slices.ContainsFunc(done.Results, func(result ensure.Result) bool {
		return result.Ref.Kind == "Secret" && result.Ref.Name == name && slices.Contains([]ensure.Action{ensure.Created, ensure.Applied, ensure.Repaired, ensure.Unchanged}, result.Action)
	})
	if written {
		return decided
	}
	return observed
}

// reportSSH reports the keys in the Secret, and the progress of their change.
func reportSSH(set condition.Set, d *opsv1.Diva, decided decision, r *ring.Ring) {
	const kind = opsv1.DivaSSHReady
	if r != nil {
		d.Status.SSH = decided.pods.Status(d, r)
	}
	switch {
	case decided.key != nil && r != nil:
		set.False(kind, decided.key.Reason, decided.key.Message+decided.pods.KeyStays(d, r))
	case decided.key != nil:
		set.False(kind, decided.key.Reason, decided.key.Message)
	case r == nil:
		set.False(kind, common.ReasonApplying, "The key pair is being created")
	case !r.Identity:
		set.False(kind, opsv1.ReasonKeyLost, fmt.Sprintf("Secret %s was lost while pods run; %s. Logins go on with the old key, and a manager that starts waits", names.SecretName(d), decided.pods.Progress(d, r)))
	case d.Status.SSH.Phase != opsv1.SSHInUse:
		set.True(kind, opsv1.ReasonRotating, decided.pods.Progress(d, r))
	default:
		set.True(kind, opsv1.ReasonKeysInPlace, "The manager logs in with "+d.Status.SSH.Fingerprint)
	}
}

// reportKeyWarning warns of keys that cannot be used, and of keys where many users can read them.
func reportKeyWarning(set condition.Set, d *opsv1.Diva, sharing bool) {
	const kind = opsv1.DivaKeyWarning
	reason, words := "", []string(nil)
	if keys.HasInline(d) {
		reason = opsv1.ReasonInlineKey
		words = append(words, "anyone who may read this object can read spec.privateKey; use ssh.secretRef with another key, or remove it and then set annotation "+opsv1.RotateAnnotation+", as the key stays in use until then")
	}
	if _, bad := keys.ParsePublic(d.Spec.PublicKey); len(bad) > 0 {
		reason = opsv1.ReasonPublicKeyUnusable
		words = append(words, fmt.Sprintf("spec.publicKey, line %d, is no public key and is not used; write the whole key, or remove it", bad[0]))
	}
	if sharing {
		reason = opsv1.ReasonClientsHoldKey
		words = append(words, "clients that an earlier version of opcrew created have the manager's private key and share one host key; recreate them by an edit of spec.client that restarts them, such as an annotation in client.pod.annotations")
	}
	if len(words) == 0 {
		set.Remove(kind)
		return
	}
	set.True(kind, reason, strings.Join(words, "; "))
}

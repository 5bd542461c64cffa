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

// inPlace returns the key ring that the Secret holds after the plan was carried out. If the write failed, the Secret
// still holds the observed key ring.
func inPlace(name string, observed, decided *ring.Ring, done kit.Outcome) *ring.Ring {
	written := slices.ContainsFunc(done.Results, func(result ensure.Result) bool {
		return result.Ref.Kind == "Secret" && result.Ref.Name == name && slices.Contains([]ensure.Action{ensure.Created, ensure.Applied, ensure.Repaired, ensure.Unchanged}, result.Action)
	})
	if written {
		return decided
	}
	return observed
}

// reportSSH reports which keys are in use and the progress of a key change.
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
		set.False(kind, common.ReasonApplying, "The SSH key pair is being created")
	case !r.Identity:
		set.False(kind, opsv1.ReasonKeyLost, fmt.Sprintf("Secret %s lost its SSH keys while pods were running, and opcrew is replacing the keys: %s. Running managers log in with the old key; a manager that starts now waits for the new key", names.SecretName(d), decided.pods.Progress(d, r)))
	case d.Status.SSH.Phase != opsv1.SSHInUse:
		set.True(kind, opsv1.ReasonRotating, decided.pods.Progress(d, r))
	default:
		set.True(kind, opsv1.ReasonKeysInPlace, "The manager logs in with the key "+d.Status.SSH.Fingerprint)
	}
}

// reportKeyWarning warns about keys that cannot be used, and about private keys that more users or pods can read than
// need them.
func reportKeyWarning(set condition.Set, d *opsv1.Diva, sharing bool) {
	const kind = opsv1.DivaKeyWarning
	reason, words := "", []string(nil)
	if keys.HasInline(d) {
		reason = opsv1.ReasonInlineKey
		words = append(words, "anyone who may read this Diva can read the private key in spec.privateKey; provide another key in a Secret with spec.ssh.secretRef, or remove spec.privateKey and then have opcrew generate a key with the annotation "+opsv1.RotateAnnotation+"; until you do so, the current key stays in use")
	}
	if _, bad := keys.ParsePublic(d.Spec.PublicKey); len(bad) > 0 {
		reason = opsv1.ReasonPublicKeyUnusable
		words = append(words, fmt.Sprintf("line %d of spec.publicKey is not a public key, so opcrew ignores it; enter the whole key, or remove the line", bad[0]))
	}
	if sharing {
		reason = opsv1.ReasonClientsHoldKey
		words = append(words, "clients that an earlier version of opcrew created have the manager's private key and share one host key; to recreate these clients, change a field of spec.client that restarts pods, such as an annotation in spec.client.pod.annotations")
	}
	if len(words) == 0 {
		set.Remove(kind)
		return
	}
	set.True(kind, reason, strings.Join(words, "; "))
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ring defines the key ring of a Diva: the keys in its Secret, including the old and the new key pair during a
// change, and the files that pods get from them. Package rotation decides when the key ring changes.
package ring

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
)

// Keys of the Secret. privateKey and publicKey have the same names as in the tutorial article that this API comes from.
// All other keys record the progress of a key change, so that opcrew can continue it after a crash.
const (
	PrivateKey      = "privateKey"
	PublicKey       = "publicKey"
	IdentityKey     = "identity"       // private key that the manager pods log in with
	NextIdentityKey = "identityNext"   // second private key of the manager pods; the new key during a key change
	AuthorizedKeys  = "authorizedKeys" // public keys that client pods accept
	KnownHosts      = "knownHosts"     // host keys of the client pods
	HostSeed        = "hostSeed"       // random bytes from which the host key of each client pod is derived
	HostKey         = "hostKey"        // host key pair that client pods of earlier versions of opcrew share
	HostPublicKey   = "hostPublicKey"
	formerHostKey   = "formerHostKey"     // public halves of lost shared host keys, one per line
	nextPrivateKey  = "nextPrivateKey"    // new login key that not all client pods accept yet
	previousPublic  = "previousPublicKey" // old login key that manager pods may still use
	madeAnnotation  = "opcrew.io/ssh-key-made"
	rotateRequested = opsv1.RotateAnnotation
)

// Ring holds the keys in a Diva's Secret.
type Ring struct {
	Current *keys.Pair
	// Next is the new login key pair. It replaces Current as soon as all client pods accept it.
	Next *keys.Pair
	// Previous is the old public key, which client pods accept as long as a manager pod may log in with it. Former is
	// the key pair of Previous; nil if it was lost with the Secret.
	Previous string
	Former   *keys.Pair
	// Identity reports whether the manager pods have the current private key. It is false after the Secret was lost:
	// the manager pods then still log in with the old key, until all client pods accept the new key.
	Identity bool
	// Seed holds the random bytes from which the host key of each client pod is derived; "" if they were lost.
	Seed string
	// Shared is the host key pair that all client pods of earlier versions of opcrew share; nil if there are no such
	// pods or the pair was lost. FormerShared holds the public halves of lost pairs, which such pods may still use.
	Shared       *keys.Pair
	FormerShared []string
	// Made is the creation time of the current key pair. Request is the value of the annotation by which the user
	// requested this key pair.
	Made    time.Time
	Request string
}

// Parse reads the key ring in a Secret. Invalid values count as missing. Parse returns nil if there is no current key
// pair.
func Parse(secret *corev1.Secret) *Ring {
	if secret == nil {
		return nil
	}
	of := func(key string) *keys.Pair { p, _ := keys.Parse(string(secret.Data[key])); return p }
	r := &Ring{
		Next: of(nextPrivateKey), Shared: of(HostKey), Request: secret.Annotations[rotateRequested],
		Seed:     keys.ParseSeed(secret.Data[HostSeed]),
		Previous: string(secret.Data[previousPublic]), FormerShared: lines(string(secret.Data[formerHostKey])),
	}
	r.Current = inUse(of(PrivateKey), of(IdentityKey), of(NextIdentityKey), r.Previous)
	r.Identity = len(secret.Data[NextIdentityKey]) > 0
	if first := of(IdentityKey); first != nil && first.Public == r.Previous {
		r.Former = first
	}
	r.Made, _ = time.Parse(time.RFC3339, secret.Annotations[madeAnnotation])
	if r.Current == nil {
		return nil
	}
	return r
}

// inUse returns the key pair that the manager pods use or will use next. The Secret stores this pair three times: in
// privateKey and in the manager pods' two keys. If a user edited one copy, inUse returns the key in the two unchanged
// copies, because no client pod accepts the edited key.
func inUse(stored, first, second *keys.Pair, previous string) *keys.Pair {
	edited := stored != nil && first != nil && stored.Public == first.Public && stored.Public != previous
	if second == nil || edited {
		return stored
	}
	return second
}

// lines splits a text into its lines and drops empty lines.
func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// Phase returns the progress of a key change, as recorded in the Secret.
func (r *Ring) Phase() opsv1.SSHPhase {
	switch {
	case r.Next != nil || !r.Identity:
		return opsv1.SSHAuthorizing
	case r.Previous != "":
		return opsv1.SSHSwitching
	}
	return opsv1.SSHInUse
}

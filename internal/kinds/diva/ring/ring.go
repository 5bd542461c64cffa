// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ring holds the key ring of a Diva: the content of its Secret while one pair replaces another, and the files
// that pods get from it. Package rotation decides when the ring changes.
package ring

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
)

// Keys of the Secret. privateKey and publicKey are the article's. The others record how far a change of the pair is, so
// that it survives a crash between any two steps.
const (
	PrivateKey      = "privateKey"
	PublicKey       = "publicKey"
	IdentityKey     = "identity"       // what the manager logs in with,
	NextIdentityKey = "identityNext"   // and what else: the key that comes, while one does
	AuthorizedKeys  = "authorizedKeys" // what clients accept
	KnownHosts      = "knownHosts"     // what the manager knows clients by
	HostSeed        = "hostSeed"       // what the host key of each client is derived from
	HostKey         = "hostKey"        // the pair that clients of earlier versions share,
	HostPublicKey   = "hostPublicKey"
	formerHostKey   = "formerHostKey"     // and those of clients that run since before it was lost, one a line
	nextPrivateKey  = "nextPrivateKey"    // the pair that clients are brought to let in
	previousPublic  = "previousPublicKey" // the key that the manager is brought to leave
	madeAnnotation  = "opcrew.io/ssh-key-made"
	rotateRequested = opsv1.RotateAnnotation
)

// Ring is the content of a Diva's Secret.
type Ring struct {
	Current *keys.Pair
	// Next replaces Current as soon as all clients accept it.
	Next *keys.Pair
	// Previous is accepted as long as a manager may log in with it. Former is the pair of Previous, or nil if the
	// Secret was lost.
	Previous string
	Former   *keys.Pair
	// Identity reports whether the manager has the current key. After the Secret was lost it does not, and clients only
	// accept the key that the manager still has.
	Identity bool
	// Seed is what the host key of each client is derived from; "" where it was lost.
	Seed string
	// Shared is the host's pair that all clients of earlier versions have, nil without such clients or where it was lost;
	// FormerShared are the public keys of those that were started before one was lost.
	Shared       *keys.Pair
	FormerShared []string
	// Made is when the current pair was, and Request the annotation that it was made for.
	Made    time.Time
	Request string
}

// Parse reads a Secret. Invalid values are treated as missing. Without a current pair it returns nil.
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

// inUse returns the pair that the manager uses or will use next. There are three copies of it: privateKey and the
// manager's two keys. If a user has edited one copy, inUse returns the others, because no client accepts the edited
// key.
func inUse(stored, first, second *keys.Pair, previous string) *keys.Pair {
	edited := stored != nil && first != nil && stored.Public == first.Public && stored.Public != previous
	if second == nil || edited {
		return stored
	}
	return second
}

// lines returns the lines of a text that are not empty.
func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// Phase returns how far a change of the pair is, as recorded in the Secret.
func (r *Ring) Phase() opsv1.SSHPhase {
	switch {
	case r.Next != nil || !r.Identity:
		return opsv1.SSHAuthorizing
	case r.Previous != "":
		return opsv1.SSHSwitching
	}
	return opsv1.SSHInUse
}

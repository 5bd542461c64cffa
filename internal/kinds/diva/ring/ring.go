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
	IdentityKey     = "identity"       // the manager's private key
	NextIdentityKey = "identityNext"   // its second private key, which is the next one during a change
	AuthorizedKeys  = "authorizedKeys" // authorized_keys of clients
	KnownHosts      = "knownHosts"     // known_hosts of the manager
	HostKey         = "hostKey"
	HostPublicKey   = "hostPublicKey"
	formerHostKey   = "formerHostKey"     // host keys of clients that started before the present one, one per line
	nextPrivateKey  = "nextPrivateKey"    // the next pair, until all clients accept it
	previousPublic  = "previousPublicKey" // the key that the manager stops using
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
	// Host is the pair that identifies clients, or nil if only this pair was lost. FormerHosts are the public host keys
	// of clients that started before a host key was lost.
	Host        *keys.Pair
	FormerHosts []string
	// Made is when the current pair was created, and Request the annotation value for which it was created.
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
		Next: of(nextPrivateKey), Host: of(HostKey), Request: secret.Annotations[rotateRequested],
		Previous: string(secret.Data[previousPublic]), FormerHosts: lines(string(secret.Data[formerHostKey])),
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

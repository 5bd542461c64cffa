// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// Keys of the Secret. privateKey and publicKey are the article's; the others say how far a
// change of the pair has come, so that a crash between any two steps is none of it.
const (
	privateKey      = "privateKey"
	publicKey       = "publicKey"
	identityKey     = "identity"       // what the manager logs in with,
	nextIdentityKey = "identityNext"   // and what else: the key that comes, while one does
	authorizedKeys  = "authorizedKeys" // what clients let in
	knownHosts      = "knownHosts"     // what the manager knows clients by
	hostKey         = "hostKey"
	hostPublicKey   = "hostPublicKey"
	formerHostKey   = "formerHostKey"     // those of clients that run since before it was lost, one a line
	nextPrivateKey  = "nextPrivateKey"    // the pair that clients are brought to let in
	previousPublic  = "previousPublicKey" // the key that the manager is brought to leave
	madeAnnotation  = "opcrew.io/ssh-key-made"
	rotateRequested = opsv1.RotateAnnotation
)

// ring is what a Diva's Secret holds.
type ring struct {
	current *pair
	// next is to take its place as soon as all clients let it in.
	next *pair
	// previous is let in for as long as a manager may log in with it. former is its pair, nil
	// after the Secret was lost.
	previous string
	former   *pair
	// identity reports whether the manager has the current key. It has not after the Secret was
	// lost: what it still holds is all that clients let in.
	identity bool
	// host is what clients prove with who they are, nil where it was lost alone; formerHosts
	// are those of clients that run since before one was lost.
	host        *pair
	formerHosts []string
	// made is when the current pair was, and request the annotation that it was made for.
	made    time.Time
	request string
}

// parseRing reads a Secret. What cannot be read is as if it were not there; without the
// current pair nothing is.
func parseRing(secret *corev1.Secret) *ring {
	if secret == nil {
		return nil
	}
	of := func(key string) *pair { p, _ := parsePair(string(secret.Data[key])); return p }
	r := &ring{
		next: of(nextPrivateKey), host: of(hostKey), request: secret.Annotations[rotateRequested],
		previous: string(secret.Data[previousPublic]), formerHosts: lines(string(secret.Data[formerHostKey])),
	}
	r.current = inUse(of(privateKey), of(identityKey), of(nextIdentityKey), r.previous)
	r.identity = len(secret.Data[nextIdentityKey]) > 0
	if first := of(identityKey); first != nil && first.public == r.previous {
		r.former = first
	}
	r.made, _ = time.Parse(time.RFC3339, secret.Annotations[madeAnnotation])
	if r.current == nil {
		return nil
	}
	return r
}

// inUse is the pair that the manager logs in with, or is brought to. It has it twice, and
// privateKey is one more copy: one of the three that someone edits by hand is no step, and
// is put back, as no client lets it in.
func inUse(stored, first, second *pair, previous string) *pair {
	edited := stored != nil && first != nil && stored.public == first.public && stored.public != previous
	if second == nil || edited {
		return stored
	}
	return second
}

// lines are those of a text that are not empty.
func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}

// phase says how far a change of the pair has come, as far as the Secret tells.
func (r *ring) phase() opsv1.SSHPhase {
	switch {
	case r.next != nil || !r.identity:
		return opsv1.SSHAuthorizing
	case r.previous != "":
		return opsv1.SSHSwitching
	}
	return opsv1.SSHInUse
}

// secret declares the Secret.
func (r *ring) secret(d *opsv1.Diva, extra []string) *corev1ac.SecretApplyConfiguration {
	data := map[string][]byte{
		privateKey: r.current.private, publicKey: []byte(r.current.public + "\n"),
		authorizedKeys: []byte(r.authorized(extra)), knownHosts: []byte(r.known(d)),
		hostKey: r.host.private, hostPublicKey: []byte(r.host.public + "\n"),
	}
	if first, next := r.identities(); next != nil {
		data[identityKey], data[nextIdentityKey] = first.private, next.private
	}
	if r.next != nil {
		data[nextPrivateKey] = r.next.private
	}
	for key, value := range map[string]string{previousPublic: r.previous, formerHostKey: strings.Join(r.formerHosts, "\n")} {
		if value != "" {
			data[key] = []byte(value)
		}
	}
	annotations := map[string]string{madeAnnotation: r.made.UTC().Format(time.RFC3339)}
	if r.request != "" {
		annotations[rotateRequested] = r.request
	}
	return corev1ac.Secret(secretName(d), d.Namespace).WithLabels(labels(d)).WithAnnotations(annotations).
		WithType(corev1.SecretTypeOpaque).WithData(data)
}

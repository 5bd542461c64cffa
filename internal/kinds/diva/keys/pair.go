// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package keys parses and generates the key pairs of a Diva: its own pairs, pairs that a user provides, and public
// keys. It knows ssh's formats. Packages ring and rotation decide how a pair is used and when it is replaced.
package keys

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// seedLength is the number of random bytes of a seed.
const seedLength = 32

// Pair is a private key as ssh reads it, and its public key as one line without a comment.
type Pair struct {
	Private []byte
	Public  string
}

// New generates an ed25519 pair.
func New(comment string) (*Pair, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate a key pair: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return nil, fmt.Errorf("encode a private key: %w", err)
	}
	p, why := Parse(string(pem.EncodeToMemory(block)))
	if why != "" {
		return nil, errors.New(why)
	}
	return p, nil
}

// NewSeed makes a seed that the host keys of all clients are derived from.
func NewSeed() string {
	seed := make([]byte, seedLength)
	_, _ = rand.Read(seed) // it never fails
	return hex.EncodeToString(seed)
}

// ParseSeed reads a seed; "" if it is not one that NewSeed made.
func ParseSeed(text []byte) string {
	if raw, err := hex.DecodeString(string(text)); err != nil || len(raw) != seedLength {
		return ""
	}
	return string(text)
}

// Parse reads a private key, or says why it cannot be used.
func Parse(text string) (p *Pair, why string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) + "\n"
	signer, err := ssh.ParsePrivateKey([]byte(text))
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, "the private key needs a passphrase, which the manager cannot enter; provide a key without a passphrase"
	case err != nil:
		return nil, fmt.Sprintf("the value is not a private key (%v); provide a key such as ssh-keygen -t ed25519 creates", err)
	case signer.PublicKey().Type() == "ssh-dss":
		return nil, "the private key is a DSA key, which sshd no longer accepts; provide a key such as ssh-keygen -t ed25519 creates"
	}
	private, err := readable(text)
	if err != nil {
		return nil, err.Error()
	}
	return &Pair{Private: private, Public: line(signer.PublicKey())}, ""
}

// line returns a public key as a line of authorized_keys.
func line(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// ParsePublic parses the public keys in a text, one per line, and returns them with their options and without their
// comments. bad holds the numbers of invalid lines.
func ParsePublic(text string) (keys []string, bad []int) {
	for i, each := range strings.Split(text, "\n") {
		each = strings.TrimSpace(each)
		if each == "" || strings.HasPrefix(each, "#") {
			continue
		}
		key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(each))
		if err != nil {
			bad = append(bad, i+1)
			continue
		}
		parsed := line(key)
		if len(options) > 0 {
			parsed = strings.Join(options, ",") + " " + parsed
		}
		keys = append(keys, parsed)
	}
	return keys, bad
}

// Fingerprint returns the fingerprint of a public key as ssh prints it; "" if the key is invalid.
func Fingerprint(public string) string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(key)
}

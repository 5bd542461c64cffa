// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package keys parses and generates the SSH keys of a Diva: key pairs from opcrew, key pairs from users, and public
// keys. Packages ring and rotation decide how a key pair is used and when it is replaced.
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

// seedLength is the number of random bytes in a seed, from which host keys are derived.
const seedLength = 32

// Pair is an SSH key pair: the private key in a format that ssh reads, and the public key as one line without a
// comment.
type Pair struct {
	Private []byte
	Public  string
}

// New generates an ed25519 key pair.
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

// NewSeed returns a random seed from which the host keys of all client pods are derived.
func NewSeed() string {
	seed := make([]byte, seedLength)
	_, _ = rand.Read(seed) // crypto/rand.Read never returns an error
	return hex.EncodeToString(seed)
}

// ParseSeed returns the seed in a text; "" if the text is not a seed from NewSeed.
func ParseSeed(text []byte) string {
	if raw, err := hex.DecodeString(string(text)); err != nil || len(raw) != seedLength {
		return ""
	}
	return string(text)
}

// Parse parses a private key. If the key cannot be used, why explains the problem.
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

// line formats a public key as a line of authorized_keys.
func line(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// ParsePublic parses public keys, one per line. It keeps their options and drops their comments. bad holds the numbers
// of invalid lines.
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

// Fingerprint returns the SHA-256 fingerprint of a public key in the form that ssh prints; "" if the key is invalid.
func Fingerprint(public string) string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(key)
}

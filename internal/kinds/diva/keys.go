// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// pair is a private key as ssh reads it, and its public key as one line without a comment.
type pair struct {
	private []byte
	public  string
}

// newPair makes an ed25519 pair.
func newPair(comment string) (*pair, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	p, why := parsePair(string(pem.EncodeToMemory(block)))
	if why != "" {
		return nil, errors.New(why)
	}
	return p, nil
}

// parsePair reads a private key, or tells in words why it is of no use.
func parsePair(text string) (p *pair, why string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) + "\n"
	signer, err := ssh.ParsePrivateKey([]byte(text))
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, "it is locked by a passphrase, which nobody could type; write one without"
	case err != nil:
		return nil, fmt.Sprintf("it is no private key (%v); write one as ssh-keygen -t ed25519 makes it", err)
	case signer.PublicKey().Type() == "ssh-dss":
		return nil, "it is a DSA key, which no sshd accepts any more; write one as ssh-keygen -t ed25519 makes it"
	}
	private, err := readable(text)
	if err != nil {
		return nil, err.Error()
	}
	return &pair{private: private, public: line(signer.PublicKey())}, ""
}

// line is a public key as a line of authorized_keys.
func line(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// parsePublic reads the public keys of a text, one a line, with their options and without
// their comments. bad are the numbers of the lines that are none.
func parsePublic(text string) (keys []string, bad []int) {
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

// fingerprint is that of a public key as ssh prints it, or is empty.
func fingerprint(public string) string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(key)
}

// given is the private key that the user gives, if any, and what is wrong with it.
type given struct {
	pair  *pair
	wrong *obstacle
}

// obstacle is a cause in the terms of a condition.
type obstacle struct{ reason, message string }

// inline is the key of the spec.
func inline(d *opsv1.Diva) given {
	if !hasInline(d) {
		return given{}
	}
	return match("spec.privateKey", d.Spec.PrivateKey, "spec.publicKey", d.Spec.PublicKey)
}

func hasInline(d *opsv1.Diva) bool { return strings.TrimSpace(d.Spec.PrivateKey) != "" }

// The names under which users keep key pairs: ours, those of Secrets of Kubernetes' own
// type for them, and those of ssh's files.
var (
	privateNames = []string{"privateKey", "ssh-privatekey", "id_ed25519", "id_rsa"}
	publicNames  = []string{"publicKey", "ssh-publickey", "id_ed25519.pub", "id_rsa.pub"}
)

// referred is the key of a Secret of the user; data is nil where there is none.
func referred(secret string, data map[string][]byte) given {
	of := func(names []string) (string, string) {
		for _, name := range names {
			if text := strings.TrimSpace(string(data[name])); text != "" {
				return name, text
			}
		}
		return "", ""
	}
	name, private := of(privateNames)
	if private == "" {
		return given{wrong: &obstacle{opsv1.ReasonKeyMissing, fmt.Sprintf("spec.ssh.secretRef: there is no Secret %s with a private key under %s", secret, strings.Join(privateNames, ", "))}}
	}
	publicName, public := of(publicNames)
	return match("Secret "+secret+", "+name, private, "Secret "+secret+", "+publicName, public)
}

// match reads a private key and, where there is one, compares the public key beside it. One
// that cannot be read is no obstacle: the private key says what it is.
func match(privateName, private, publicName, public string) given {
	p, why := parsePair(private)
	if why != "" {
		return given{wrong: &obstacle{opsv1.ReasonKeyUnusable, privateName + ": " + why}}
	}
	keys, _ := parsePublic(public)
	for _, key := range keys {
		if fingerprint(key) == fingerprint(p.public) {
			return given{pair: p}
		}
	}
	if len(keys) > 0 {
		return given{wrong: &obstacle{opsv1.ReasonKeyMismatch, fmt.Sprintf("%s does not belong to %s; leave it out, or write %s", publicName, privateName, p.public)}}
	}
	return given{pair: p}
}

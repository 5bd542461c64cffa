// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"strings"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// Given is the key pair that the user provides, if any. Problem explains why the provided key cannot be used.
type Given struct {
	Pair    *Pair
	Problem *Problem
}

// Problem is the reason and message of a condition about an invalid key.
type Problem struct{ Reason, Message string }

// Inline returns the key pair in spec.privateKey.
func Inline(d *opsv1.Diva) Given {
	if !HasInline(d) {
		return Given{}
	}
	return match("spec.privateKey", d.Spec.PrivateKey, "spec.publicKey", d.Spec.PublicKey)
}

// HasInline reports whether spec.privateKey is set.
func HasInline(d *opsv1.Diva) bool { return strings.TrimSpace(d.Spec.PrivateKey) != "" }

// Keys of a user's Secret that may hold a key pair: opcrew's names, the names of the Secret type
// kubernetes.io/ssh-auth, and ssh's file names.
var (
	privateNames = []string{"privateKey", "ssh-privatekey", "id_ed25519", "id_rsa"}
	publicNames  = []string{"publicKey", "ssh-publickey", "id_ed25519.pub", "id_rsa.pub"}
)

// FromSecret returns the key pair in a user's Secret. data is nil if the Secret does not exist.
func FromSecret(secret string, data map[string][]byte) Given {
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
		return Given{Problem: &Problem{opsv1.ReasonKeyMissing, fmt.Sprintf("spec.ssh.secretRef: Secret %s does not exist or has no private key; opcrew looks for a key under one of the names %s", secret, strings.Join(privateNames, ", "))}}
	}
	publicName, public := of(publicNames)
	return match("Secret "+secret+", "+name, private, "Secret "+secret+", "+publicName, public)
}

// match parses a private key and compares it with the public key next to it, if there is one. An invalid public key is
// ignored, because the private key determines the public key.
func match(privateName, private, publicName, public string) Given {
	p, why := Parse(private)
	if why != "" {
		return Given{Problem: &Problem{opsv1.ReasonKeyUnusable, privateName + ": " + why}}
	}
	keys, _ := ParsePublic(public)
	for _, key := range keys {
		if Fingerprint(key) == Fingerprint(p.Public) {
			return Given{Pair: p}
		}
	}
	if len(keys) > 0 {
		return Given{Problem: &Problem{opsv1.ReasonKeyMismatch, fmt.Sprintf("the public key in %s does not match the private key in %s; remove the public key, or set it to %s", publicName, privateName, p.Public)}}
	}
	return Given{Pair: p}
}

// Extra returns the keys in spec.publicKey that client pods accept in addition to the login key. If spec.privateKey is
// set, spec.publicKey is the public half of that key and adds nothing.
func Extra(d *opsv1.Diva) []string {
	if HasInline(d) {
		return nil
	}
	keys, _ := ParsePublic(d.Spec.PublicKey)
	return keys
}

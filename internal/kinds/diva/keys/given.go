// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"strings"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
)

// Given is the private key that the user provides, if any, and what is wrong with it.
type Given struct {
	Pair    *Pair
	Problem *Problem
}

// Problem is what is wrong with a key, in the terms of a condition.
type Problem struct{ Reason, Message string }

// Inline is the key of the spec.
func Inline(d *opsv1.Diva) Given {
	if !HasInline(d) {
		return Given{}
	}
	return match("spec.privateKey", d.Spec.PrivateKey, "spec.publicKey", d.Spec.PublicKey)
}

// HasInline reports whether the spec has a private key.
func HasInline(d *opsv1.Diva) bool { return strings.TrimSpace(d.Spec.PrivateKey) != "" }

// The names under which users keep key pairs: ours, those of Secrets of Kubernetes' own
// type for them, and those of ssh's files.
var (
	privateNames = []string{"privateKey", "ssh-privatekey", "id_ed25519", "id_rsa"}
	publicNames  = []string{"publicKey", "ssh-publickey", "id_ed25519.pub", "id_rsa.pub"}
)

// FromSecret is the key of a Secret of the user; data is nil where there is none.
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
		return Given{Problem: &Problem{opsv1.ReasonKeyMissing, fmt.Sprintf("spec.ssh.secretRef: there is no Secret %s with a private key under %s", secret, strings.Join(privateNames, ", "))}}
	}
	publicName, public := of(publicNames)
	return match("Secret "+secret+", "+name, private, "Secret "+secret+", "+publicName, public)
}

// match reads a private key and, where there is one, compares the public key beside it. One
// that cannot be read is not a problem: the private key says what it is.
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
		return Given{Problem: &Problem{opsv1.ReasonKeyMismatch, fmt.Sprintf("%s does not belong to %s; leave it out, or write %s", publicName, privateName, p.Public)}}
	}
	return Given{Pair: p}
}

// Extra are the further keys that clients accept. A public key beside a private one in the
// spec is not further: it belongs to that.
func Extra(d *opsv1.Diva) []string {
	if HasInline(d) {
		return nil
	}
	keys, _ := ParsePublic(d.Spec.PublicKey)
	return keys
}

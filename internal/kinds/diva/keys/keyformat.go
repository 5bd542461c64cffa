// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// readable converts a private key to a format that every version of ssh can read. ssh refuses a key with text before
// it, and versions before 9.6 cannot read ed25519 keys in PKCS #8. The same input always gives the same output, because
// opcrew sends every change of the text to all pods.
func readable(text string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("the value has no PEM block")
	}
	block.Headers = nil
	if raw, err := ssh.ParseRawPrivateKey([]byte(text)); err == nil && block.Type == "PRIVATE KEY" {
		if key, ok := raw.(ed25519.PrivateKey); ok {
			if block, err = sshkeys.OwnFormat(key); err != nil {
				return nil, err
			}
		}
	}
	return pem.EncodeToMemory(block), nil
}

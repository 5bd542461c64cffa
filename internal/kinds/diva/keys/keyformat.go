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

// readable is a private key that was read here, in a form that every ssh reads too: text
// before the key makes it refuse the file, and an ed25519 key in PKCS #8 is new to it in 9.6.
// The same key is the same text each time, as another one is written and brought to pods.
func readable(text string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("it has no block of a key")
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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/pem"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// readable returns a private key in a format that every ssh can read. ssh refuses text before the key, and reads
// ed25519 keys in PKCS #8 only since 9.6. The same key always gives the same text, because a different text would be
// written and sent to pods.
func readable(text string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("it has no block of a key")
	}
	block.Headers = nil
	if raw, err := ssh.ParseRawPrivateKey([]byte(text)); err == nil && block.Type == "PRIVATE KEY" {
		if key, ok := raw.(ed25519.PrivateKey); ok {
			if block, err = ownFormat(key); err != nil {
				return nil, err
			}
		}
	}
	return pem.EncodeToMemory(block), nil
}

// ownFormat returns a key in ssh's own format, with a check number derived from the key instead of a random one.
func ownFormat(key ed25519.PrivateKey) (*pem.Block, error) {
	const magic = "openssh-key-v1\x00"
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	var file struct {
		CipherName, KdfName, KdfOpts string
		NumKeys                      uint32
		PubKey, PrivKeyBlock         []byte
	}
	if err := ssh.Unmarshal(block.Bytes[len(magic):], &file); err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	check := sha256.Sum256(file.PubKey)
	copy(file.PrivKeyBlock, append(check[:4:4], check[:4]...)) // the format contains it twice
	block.Bytes = append([]byte(magic), ssh.Marshal(file)...)
	return block, nil
}

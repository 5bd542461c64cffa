// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshkeys

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"maps"
	"strings"

	"golang.org/x/crypto/ssh"
)

// SeedFile is the file of a mounted Secret from which all host keys are derived. It must never be copied into a client
// pod's container.
const SeedFile = "host_seed"

// HostKeyFile is the file with the private key by which an SSH host proves its identity.
const HostKeyFile = "ssh_host_ed25519_key"

// HostKey derives the SSH host key pair of one host from a secret seed that all hosts share. A key pair reveals neither
// the seed nor the key pair of another host.
func HostKey(seed []byte, host string) (private []byte, public string, err error) {
	sum := hmac.New(sha256.New, seed)
	sum.Write([]byte("opcrew ssh host key\x00" + host))
	key := ed25519.NewKeyFromSeed(sum.Sum(nil))
	block, err := OwnFormat(key)
	if err != nil {
		return nil, "", err
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		return nil, "", fmt.Errorf("derive the host key of %s: %w", host, err)
	}
	return pem.EncodeToMemory(block), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}

// HostFiles returns the private and the public host key file of a host, by file name.
func HostFiles(seed []byte, host string) (map[string][]byte, error) {
	private, public, err := HostKey(seed, host)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{HostKeyFile: private, HostKeyFile + ".pub": []byte(public + "\n")}, nil
}

// OwnFiles returns the files of a mounted Secret, with the seed replaced by the host key of one host. The container
// that calls OwnFiles is the only one in the pod that may see the seed; the other containers get the result.
func OwnFiles(files map[string][]byte, host string) (map[string][]byte, error) {
	seed, ok := files[SeedFile]
	if !ok {
		return files, nil
	}
	own, err := HostFiles(seed, host)
	if err != nil {
		return nil, err
	}
	delete(files, SeedFile)
	maps.Copy(files, own)
	return files, nil
}

// OwnFormat encodes a key in the OpenSSH private key format. The check number in this format is derived from the key,
// and not random, so that the same key always gives the same text.
func OwnFormat(key ed25519.PrivateKey) (*pem.Block, error) {
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
	copy(file.PrivKeyBlock, append(check[:4:4], check[:4]...)) // the format contains the check number twice
	block.Bytes = append([]byte(magic), ssh.Marshal(file)...)
	return block, nil
}

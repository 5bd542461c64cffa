// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redissecrets reads the two Secrets that a Redis pod mounts: the Secret of the users, and the Secret of the
// system user, which the operator and the agents share. Callers read them at each use, because the kubelet updates the
// files. The package does not check passwords.
package redissecrets

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// hashLength is the length of a password hash: a SHA-256 in hexadecimal digits.
const hashLength = 2 * sha256.Size

// Secrets is the content of the mounted Secrets at one time.
type Secrets struct {
	Username string   // name of the Redis user for applications
	Accepted []string // hashes of the passwords that are valid for Username; there are two while the password is being changed
	Password string   // password of the system user (redispod.System)
}

// Read reads the Secrets that are mounted in a directory.
func Read(dir string) (Secrets, error) {
	username, errUsername := read(dir, redispod.UsernameFile)
	password, errPassword := read(dir, redispod.PasswordFile)
	accepted, errAccepted := read(dir, redispod.AcceptedFile)
	if err := errors.Join(errUsername, errPassword, errAccepted); err != nil {
		return Secrets{}, err
	}
	hashes, err := parseAccepted(accepted)
	if err != nil {
		return Secrets{}, fmt.Errorf("read the secret %s: %w", redispod.AcceptedFile, err)
	}
	return Secrets{Username: username, Accepted: hashes, Password: password}, nil
}

// read returns the content of a file without the final line break. An empty value is an error, because it would open
// the server to all clients.
func read(dir, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "", fmt.Errorf("read a secret: %w", err)
	}
	value := strings.TrimRight(string(text), "\r\n")
	if value == "" {
		return "", fmt.Errorf("the secret %s is empty", name)
	}
	return value, nil
}

func parseAccepted(text string) ([]string, error) {
	hashes := strings.Fields(text)
	for i, hash := range hashes {
		if len(hash) != hashLength || strings.ContainsFunc(hash, notHex) {
			return nil, fmt.Errorf("line %d is not the SHA-256 hash of a password (%d hexadecimal digits)", i+1, hashLength)
		}
	}
	if len(hashes) == 0 {
		return nil, errors.New("the file contains no password hash")
	}
	return hashes, nil
}

func notHex(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }

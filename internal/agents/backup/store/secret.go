// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// secret is the mount path of a Secret; "" means that there is none.
type secret string

func (s secret) file(key string) string { return filepath.Join(string(s), key) }

func (s secret) has(key string) bool {
	_, err := os.Stat(s.file(key))
	return s != "" && err == nil
}

// value returns the value of a key, without a line break at the end.
func (s secret) value(key string) (string, error) {
	if s == "" {
		return "", backup.Fail(backup.ReasonSecretInvalid, "this storage needs a Secret with the key %s", key)
	}
	text, err := os.ReadFile(s.file(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", backup.Fail(backup.ReasonSecretInvalid, "the storage Secret has no key %s", key)
	case err != nil:
		return "", backup.Fail(backup.ReasonSecretInvalid, "the storage Secret cannot be read: %w", err)
	}
	if value := strings.TrimSpace(string(text)); value != "" {
		return value, nil
	}
	return "", backup.Fail(backup.ReasonSecretInvalid, "the key %s of the storage Secret is empty", key)
}

// mask lists values that must never appear in messages.
type mask []string

// leastSecret is the minimum length of a value to mask, because shorter values may be common words.
const leastSecret = 6

func (m mask) apply(text string) string {
	for _, value := range m {
		if len(value) >= leastSecret {
			text = strings.ReplaceAll(text, value, "***")
		}
	}
	return text
}

// iniValues returns those values in an AWS file that are secret according to their names.
func iniValues(text string) mask {
	var out mask
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, "=")
		name = strings.ToLower(name)
		if strings.Contains(name, "secret") || strings.Contains(name, "token") || strings.Contains(name, "key") {
			out = append(out, strings.TrimSpace(value))
		}
	}
	return out
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissecrets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

func TestSecretsAreReadAsTheyAreMounted(t *testing.T) {
	one, two := redispod.Hash("one"), redispod.Hash("two")
	for name, test := range map[string]struct {
		username, password, accepted string
		valid                        bool
	}{
		"one password":              {"ada\n", "p", one, true},
		"two during a change":       {"ada", "p", one + "\n" + two + "\n", true},
		"no user":                   {"\n", "p", one, false},
		"no password of ours":       {"ada", "", one, false},
		"no password that is valid": {"ada", "p", "\n", false},
		"a password, and no hash":   {"ada", "p", "secret", false},
		"a hash in capitals":        {"ada", "p", strings.ToUpper(one), false},
		"a hash and more":           {"ada", "p", one + "\nnopass", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{redispod.UsernameFile: test.username, redispod.PasswordFile: test.password, redispod.AcceptedFile: test.accepted} {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Read(dir)
			if (err == nil) != test.valid {
				t.Fatalf("got %+v, error %v", got, err)
			}
			if test.valid && (got.Username != "ada" || got.Password != "p" || !slices.Equal(got.Accepted, strings.Fields(test.accepted))) {
				t.Errorf("got %+v", got)
			}
		})
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), redispod.AcceptedFile) {
		t.Errorf("expected an error that names what is missing, got %v", err)
	}
}

// Errors are logged, so an error about a secret must not contain its value.
func TestAnErrorDoesNotContainASecret(t *testing.T) {
	if _, err := parseAccepted("hunter2"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

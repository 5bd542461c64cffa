// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package users reads the accounts of a host and edits two files of existing users: opcrew's block of SSH keys in
// authorized_keys (keys.go), and the hash of a password in /etc/shadow (shadow.go). The editors are pure functions that
// keep every other byte of the file. The package creates no accounts, and does no file access except for the lock.
package users

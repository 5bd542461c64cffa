// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshfiles copies the files of ssh and sshd from a mounted Secret, and keeps the copies up to date. The copies
// belong to the user as which ssh and sshd run. Private files have mode 0600, and only this user can write to the
// directories.
//
// ssh and sshd cannot use the mounted files directly. The files belong to root, and with a group they have mode 0640,
// which ssh of root refuses. The mount directory is writable for all users, which sshd refuses. A file that is mounted
// with subPath is never updated.
//
// source.go reads the Secret, target.go writes the files, and keeper.go copies the files. It logs a digest of the
// copied files (package sshkeys), which the operator reads.
//
// The operator creates and changes the keys.
package sshfiles

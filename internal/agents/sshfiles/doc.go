// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshfiles copies the files of ssh and sshd from a mounted Secret, and keeps the copies up to date. The copies
// belong to the user that runs ssh and sshd. Private files have mode 0600, and only this user can write to the
// directories.
//
// ssh and sshd cannot use the mounted files directly. The mounted files belong to root. In a pod with an fsGroup they
// have mode 0640, and ssh refuses private keys of this mode if it runs as root. All users can write to the mount
// directory, and sshd refuses such a directory. A file that is mounted with subPath is never updated.
//
// source.go reads the Secret, target.go writes the files, and keeper.go copies the files. keeper.go also logs a digest
// of the copied files (package sshkeys), and the operator reads it from the log.
//
// The operator creates and changes the keys.
package sshfiles

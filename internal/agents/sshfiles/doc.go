// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshfiles copies the files of ssh and sshd from a mounted Secret, and keeps them up to date: owned by the user
// that they run as, private ones with mode 0600, in directories that only this user can write.
//
// The mount of the Secret is not enough. Its files belong to root, and a group makes them 0640,
// which root's ssh refuses. Its directory is writable for all, which sshd refuses. A file that is
// mounted by subPath never changes.
//
// source.go reads the Secret, target.go writes the files, and keeper.go copies one to the other
// and logs a digest of the files (package sshkeys), which the operator reads.
//
// Creating and changing keys belongs to the operator.
package sshfiles

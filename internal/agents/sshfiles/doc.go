// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sshfiles keeps the files that ssh and sshd want in step with a mounted Secret:
// owned by the user that they run as, private ones with mode 0600, in directories that
// no one else can write to.
//
// A Secret mount itself does not do. Its files belong to root, a group makes them 0640,
// which root's ssh refuses, its directory can be written by everybody, which sshd refuses,
// and one file of it that is mounted by subPath never changes again.
//
// source.go reads the Secret, target.go writes the files, keeper.go follows the one with
// the other and logs what is served (package sshkeys), for the operator, which changes the Secret.
//
// What does not live here: the making of keys, and when they change, which belong to the
// operator.
package sshfiles

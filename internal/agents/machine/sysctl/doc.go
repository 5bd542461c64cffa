// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sysctl reads files in the format of sysctl.d, and reads and sets kernel parameters. It does not decide which
// parameters a configuration sets, and does not remember old values.
package sysctl

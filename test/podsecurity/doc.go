// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podsecurity checks the expected pods of all kinds, which golden files contain, against the security rules
// that the kinds' documentation pages name. Tests of the kinds check that the operators build exactly these pods.
package podsecurity

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podsecurity checks the golden pods of all kinds against the rules that their pages name. The tests of the
// kinds compare these files with what is built.
package podsecurity

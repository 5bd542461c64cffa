// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package contact judges whether a node has lost contact with its cluster because of a change: it compares the contacts
// that the node had before the change with those that it has now. The rules are pure (verdict.go). The package measures
// no contacts, and reverts nothing.
package contact

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reshard moves slots between servers: by jobs of the servers where they have them, else in batches of keys. It
// carries out moves that another package decides, and resumes or cancels them. Which slots move is decided in ring.
package reshard

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reshard moves slots between servers: by jobs of the servers if they have jobs, else in batches of keys.
// Package ring decides which slots move. Package reshard executes these moves, and resumes or cancels them.
package reshard

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reshard moves slots between servers, either with slot migration jobs of the servers or by moving keys in
// batches. Package ring decides which slots move. Package reshard also resumes and cancels moves.
package reshard

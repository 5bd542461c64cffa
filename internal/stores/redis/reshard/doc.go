// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reshard moves slots between servers, either with the servers' own slot migration jobs or by moving keys in
// batches. It also resumes and cancels moves. Package ring decides which slots move.
package reshard

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster brings the whole cluster up and down and says how it is: the
// order of the steps, what must be there before, and how leftovers are cleaned.
// What each step does is in the package of its subject.
package cluster

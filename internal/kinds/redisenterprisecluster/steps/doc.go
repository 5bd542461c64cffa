// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps chooses the one step of a reconcile and carries it out: a step at the ring, new settings for the
// servers, or the restart of a pod. It also remembers the results of earlier steps. Package decide decides which step
// the ring needs.
package steps

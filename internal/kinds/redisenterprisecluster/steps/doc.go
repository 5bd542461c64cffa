// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps chooses the one step of a reconcile and carries it out: a step at the ring, new settings for the servers, or the
// restart of a pod. It also remembers what became of earlier steps.
//
// Which step the ring needs is decided in package decide.
package steps

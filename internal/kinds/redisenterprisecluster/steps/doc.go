// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps chooses the one step of a reconcile and executes it: a step in the Redis cluster, new settings for its
// servers, or the restart of a pod. It also remembers the results of earlier steps. Package decide decides which step
// the cluster needs.
package steps

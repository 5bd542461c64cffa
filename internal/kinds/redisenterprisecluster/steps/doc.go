// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package steps executes at most one step in each reconcile: the step in the Redis cluster that package decide has
// chosen, new settings for servers, or the restart of a pod. It also remembers the results of earlier steps.
package steps

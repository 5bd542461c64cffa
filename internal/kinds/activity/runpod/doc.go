// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package runpod declares the pod of a run of an Activity, with the order for its agent, and the Secret with its values.
// It has no side effects. When a pod is created, and what its end means, is the subject of package run and of the
// reconciler.
package runpod

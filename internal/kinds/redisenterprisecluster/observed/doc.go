// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package observed describes what was read about the pods and servers of a Redis cluster: which servers run and are
// primaries, which pods are gone or outdated, and what the status already reports. Package decide makes the decisions.
package observed

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volumes handles the claims of a Redis cluster's pods: which volumes the cluster was created with, which
// claims an earlier cluster left, which data may come back with its volume, and how volumes grow. Package build
// declares the claim template.
package volumes

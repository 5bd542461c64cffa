// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package volumes handles the volume claims of a Redis cluster: which volumes its pods were created with, which claims
// an earlier cluster left, which volumes may still have the data of lost pods, and how volumes grow. Package build
// declares the claim template.
package volumes

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights checks everything that a finished pod uses, such as Secrets and a ServiceAccount. Each of these must
// belong to the owner of the pod, or the user who requested the owner must have the right to use it.
// docs/design/rights.md describes the rules.
package rights

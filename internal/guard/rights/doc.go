// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rights checks what a finished pod uses, such as Secrets and a ServiceAccount: each of these belongs to the
// object that the pod is made for, or the user who asked for the object may use it. docs/design/rights.md has the rules.
package rights

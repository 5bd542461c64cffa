// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tenant reconciles what the instances of a namespace share: the credentials of their proxies and their
// ResourceQuotas. What belongs to one instance is in the package of the kind; the arithmetic of quotas is in quota.
package tenant

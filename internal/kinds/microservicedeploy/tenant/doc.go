// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tenant reconciles what the instances of a namespace share: the credentials of their proxies and their
// ResourceQuotas. Package microservicedeploy reconciles what belongs to one instance; package quota has the arithmetic.
package tenant

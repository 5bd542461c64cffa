// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tenant reconciles what the MicroServiceDeploys of a namespace share: the credentials of their proxies and
// their ResourceQuotas. The users of a namespace are a tenant. Package microservicedeploy reconciles what belongs to
// one MicroServiceDeploy, and package quota does the arithmetic.
package tenant

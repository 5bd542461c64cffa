// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access holds the passwords of a Redis cluster: those in its Secrets, those that servers accept while one is
// changed, the Secrets that the operator declares, and the certificate of the status page. Package tuning gives
// passwords to running servers.
package access

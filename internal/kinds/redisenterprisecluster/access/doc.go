// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access holds the passwords of a Redis cluster: which ones its Secrets have, which ones the servers accept while
// one is changed, the Secrets that the operator declares, and the certificate of the status page.
//
// How servers are given them while they run is in package tuning.
package access

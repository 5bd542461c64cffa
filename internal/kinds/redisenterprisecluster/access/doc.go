// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package access manages the passwords of a Redis cluster. It reads and declares the Secrets, decides which passwords
// servers accept during a password change, and checks the status page's certificate. Package tuning sends passwords to
// running servers.
package access

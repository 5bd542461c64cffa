// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard defines what decides whether a finished pod may be written: the pod with all that users, opcrew and
// pinning put into it. Its packages are the guards: podsecurity checks Pod Security Standards, and rights checks
// that the requester of an object may use what its pods use.
//
// A guard neither builds, changes nor writes pods. Package ensure asks the guards before each write.
package guard

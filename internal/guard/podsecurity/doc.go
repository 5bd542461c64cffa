// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podsecurity objects to finished pods that break the rules of their profile: a Pod Security Standard, in the
// latest version, less a few checks that are listed with the reason (profiles.go). The checks are those of Kubernetes
// (k8s.io/pod-security-admission); words.go says what to write instead.
//
// It neither builds nor changes pods, and reads nothing. Which profile a child has is decided by its kind.
package podsecurity

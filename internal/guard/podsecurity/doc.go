// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podsecurity refuses finished pods that break the rules of their profile. A profile is the latest version of a
// Pod Security Standard without a few checks; profiles.go lists these with reasons. The checks are those of Kubernetes
// (k8s.io/pod-security-admission); words.go adds what to write instead.
//
// The package does not read from the cluster, and does not build or change pods. The kind of a child chooses its
// profile.
package podsecurity

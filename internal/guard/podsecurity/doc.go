// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podsecurity refuses pods that break the rules of their profile, before an operator creates them. A profile is
// the latest version of a Pod Security Standard, without a few of its checks; profiles.go lists these exemptions. The
// checks come from Kubernetes (k8s.io/pod-security-admission); words.go adds what to write instead.
//
// The package does not read from the cluster, and does not build or change pods. Each operator chooses the profile of
// its pods.
package podsecurity

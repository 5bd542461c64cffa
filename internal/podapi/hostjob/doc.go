// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostjob is the contract between the operator and the program that runs one command on a host. The order is in
// an annotation of the pod, and the result is the container's termination message. Both are untrusted input, so parsing
// is strict and bounded. internal/agents/hostrun carries out orders.
package hostjob

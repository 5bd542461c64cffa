// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostjob is what the operator and the program on a host say to each other about one command: the order,
// which stands in an annotation of the pod, and the result, which is the container's termination message. Both are
// untrusted input to their readers, so parsing is strict and bounded. What carries out an order is no part of it.
package hostjob

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostjob defines the orders that the operator gives to the program that runs a command on a host, and its
// results. An order is stored in an annotation of the pod. A result is the termination message of the container. Both
// are untrusted, so the parsers are strict and limit sizes. internal/agents/hostrun carries out orders.
package hostjob

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machineorder defines what the operator and the machine agent, the program on a host, write into the
// annotations of a Node: the order (order.go), the report (report.go), and the annotations of OpenShift's Machine
// Config Operator (annotations.go). With authority.go, both recognize the CA of the API server. The configuration itself
// is in a Secret (package hostconfig).
//
// Each side reads what the other wrote as hostile input: the parsers are strict and limit sizes.
package machineorder

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fields holds, for every field of every kind, a table row with the effect of editing it on a live object, and
// the test that makes each edit and checks its effect:
//
//	rows/<kind>.yaml      the rows of a kind, and the object that they edit
//	rows/shared/*.yaml    rows of structs that several kinds have, such as ports
//	table/                reads rows, walks the CRDs, and writes the tables of docs/<kind>.md
//
// A test fails for a field of a CRD without a row, and for a row whose effect does not happen on a real API server with
// the real operators and simulated pods. Package table describes how to write a row.
//
// Other tests cover refusals at creation (test/crds), and behaviour beyond the reaction to one edit (the integration
// tests of each kind).
package fields

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fields holds the table of what an edit of a live object does, for every field of
// every kind, and the test that carries out each edit and looks for its effect:
//
//	rows/<kind>.yaml      the rows of a kind, and the object that they edit
//	rows/shared/*.yaml    rows of structs that several kinds have, such as ports
//	table/                reads rows, walks the CRDs, and writes the tables of docs/<kind>.md
//
// A field that the CRD has and the table has not fails a test, as does a row whose effect is not
// seen on a real API server with the real operators and simulated pods. Package table
// describes how to write a row.
//
// Not here: what is refused at creation (test/crds), and what a kind does beside its answer to
// one edit (the integration tests of the kind).
package fields

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fields edits every field of each of opcrew's kinds on a live object, and checks the effect of the edit. A
// table has a row for each field. The row describes the edit and the expected effect:
//
//	rows/<kind>.yaml      the rows of a kind, and the object that they edit
//	rows/shared/*.yaml    rows of structs that several kinds have, such as ports
//	table/                reads rows, walks the CRDs, and writes the tables in docs/<kind>.md
//
// A test fails if a field of a CRD has no row. A test also fails if the effect of a row does not happen on a real API
// server with the real operators and simulated pods. Package table describes how to write a row.
//
// Other tests check refusals at creation (test/crds), and behaviour that goes beyond the reaction to one edit (the
// integration tests of each kind).
package fields

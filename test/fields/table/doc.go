// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table reads the rows of package fields and compares them with the CRDs.
//
// A file of rows names a kind, its CRD and its page, an object (base) and what must exist for it
// (needs). In every text $name stands for the name of the object. A row has:
//
//	path     the field; [] stands for the items of a list. paths: several fields with one row.
//	effect   Live, Rollout, Refused or NotImplemented
//	note     the text next to the effect; default the start of the field's description
//	with     is merged into base before the object is created
//	to       the new value of the field; null removes the field
//	edit     instead of to: a merge patch for the object
//	see      observations that hold after the edit and not before it, see See
//	says     what the refusal contains
//	pods     a label selector: the pods that a rollout replaces, and no others; by default all
//	gone     true where a live edit ends pods
//	wasSilent  how the field was accepted without effect before this table existed, for docs/testing.md
//	shown    instead of see: the test that shows the effect, as <folder>.<function>
//
// include inserts the rows of rows/shared/<group>.yaml at a path, with values for its variables.
// A field with a Go type of Kubernetes is one row. A field that only contains others needs no
// row, but may have one if its presence alone has an effect.
package table

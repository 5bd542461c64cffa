// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table reads the rows of package fields and compares them with the CRDs.
//
// A file of rows names a kind, its CRD and its page, an object (base) and what must exist for it
// (needs). In every text $name stands for the name of the object. A row has:
//
//	path     the field; [] stands for the items of a list. paths: several fields with one row.
//	effect   Live, Rollout, Refused or NotImplemented
//	note     what a user reads beside the effect; by default the field's description begins it
//	with     is merged into base before the object is created
//	to       the value that the field gets; null takes the field away
//	edit     in place of to: what is merged into the object
//	see      what holds after the edit and not before it, see See
//	says     what the refusal contains
//	pods     a label selector: the pods that a rollout replaces, and no others; by default all
//	gone     true where a live edit ends pods
//	wasSilent  how the field was accepted and did nothing before there was a table, for docs/testing.md
//	shown    in place of an observation: the test that shows it, as <folder>.<function>
//
// include takes the rows of rows/shared/<group>.yaml in at a path, with values for its variables.
// A field whose Go type is one of Kubernetes is one row. A field that only holds others needs
// none, and may have one where its presence alone means something.
package table

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table reads the rows of package fields and compares them with the CRDs.
//
// A file of rows names a kind, its CRD and its documentation page. It contains the object to edit (base) and the
// objects that must exist first (needs). In every text, $name is replaced by the name of the object. A row has:
//
//	path     the path of the field; [] means any item of a list. paths: several fields with one row
//	effect   Live, Rollout, Refused or NotImplemented
//	note     the text next to the effect on the page; by default the start of the field's description
//	with     is merged into base before the object is created
//	to       the new value of the field; null removes the field
//	edit     instead of to: a merge patch for the object
//	see      observations (type See) that hold after the edit but not before it
//	says     a part of the message with which the API server refuses the edit
//	pods     a label selector for the pods that a rollout replaces, by default all pods; others must stay
//	gone     true if a live edit deletes pods
//	wasSilent  how the field was accepted without effect before this table existed, for docs/testing.md
//	shown    instead of see: the test that shows the effect, as <folder>.<function>
//
// include adds the rows of rows/shared/<group>.yaml below a path, with values for their variables. A field whose Go
// type comes from Kubernetes is one row. A field that only contains other fields needs no row, but may have one if its
// presence alone has an effect.
package table

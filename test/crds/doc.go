// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crds holds the table of manifests that every CRD must accept or refuse,
// and the test that sends each of them to a real server in every way a user may.
//
//	testdata/<kind>/accept/*.yaml   every document is a row
//	testdata/<kind>/refuse/*.yaml   likewise; the file begins with the message:
//
//	# want: <part of the message>
//
// A document of a refuse file can have a `# want:` of its own, and a
// `# want-apply:` where server-side apply words it differently, as it does for
// unknown fields. A file with a line `# update` holds pairs of documents, the
// object as it is and what it becomes: a row for a transition rule.
//
// Names stay as written, since they are part of what is tested: rows run one after
// the other, and each cleans up after itself. A new kind is a new directory.
//
// Not here: what an operator does with an accepted object.
package crds

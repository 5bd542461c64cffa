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
// A document of a refuse file can have its own `# want:`, and a `# want-apply:` if the message of server-side apply
// differs, as it does for unknown fields. A file with a line `# update` contains pairs of documents, an object before
// and after an update. Each pair is a row for a transition rule.
//
// Names are used unchanged, as they are part of the test. So rows run one after the other, and each row cleans up after
// itself. A new kind is a new directory.
//
// What an operator does with an accepted object is tested elsewhere.
package crds

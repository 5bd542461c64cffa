// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crds tests which manifests the CRDs accept and refuse. Each manifest is a row of a table. The test sends each
// row to a real API server in every way in which users send manifests.
//
//	testdata/<kind>/accept/*.yaml   every document is a manifest that the server must accept
//	testdata/<kind>/refuse/*.yaml   every document is a manifest that the server must refuse
//
// A refuse file begins with a part of the server's message:
//
//	# want: <part of the message>
//
// A document of a refuse file can have its own `# want:`. It can also have a `# want-apply:`, if server-side apply
// gives a different message, as for unknown fields. A file with a line `# update` contains pairs of documents: an
// object before and after an update. Each pair is a row that tests a transition rule.
//
// The test does not change the names of objects, because some rows test names. So two rows may use the same name. For
// this reason, rows run one after the other, and each row deletes its object. To test a new kind, add a directory.
//
// Tests of the operators check what an operator does with an accepted object.
package crds

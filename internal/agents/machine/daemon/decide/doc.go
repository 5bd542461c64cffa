// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package decide decides what the machine agent does next. Next evaluates an ordered list of rules (next.go), and the
// first rule with an opinion decides. Wanted (wanted.go) returns the annotations that the Node should have. The package
// is pure: package daemon observes the host and the Node, and carries out the step.
package decide

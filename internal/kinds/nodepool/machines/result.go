// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machines

import corev1 "k8s.io/api/core/v1"

// Result is what the machines of a NodePool's nodes show.
type Result struct {
	// Reason is the first requirement that nodes do not meet; empty if there is none. Remedy is what to do.
	Reason, Remedy string
	// Wrong are the nodes that do not meet it, and First is what is wrong with the first of them.
	Wrong []string
	First string
	// Silent are nodes that do not show what must be known, and Unknown is a sentence about %s, these nodes.
	Silent  []string
	Unknown string
	// Problem is why the template cannot be verified, and Pending is set until it has been read.
	Problem *Problem
	Pending bool
}

// finding is what a node shows about its machine: whether it is known, and what is wrong; "" if nothing is.
type finding struct {
	known bool
	wrong string
}

// examine adds the nodes with a wrong machine, and those that show nothing.
func (r *Result) examine(nodes []*corev1.Node, find func(*corev1.Node) finding) {
	for _, n := range nodes {
		switch f := find(n); {
		case f.wrong != "":
			if r.Wrong = append(r.Wrong, n.Name); r.First == "" {
				r.First = f.wrong
			}
		case !f.known:
			r.Silent = append(r.Silent, n.Name)
		}
	}
}

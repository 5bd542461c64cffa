// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// outcome is what a run leaves behind.
type outcome struct {
	problems []string
	writes   []*write
	tally    map[Key]tally
	end      state
	// versions of the world before each step, and the kind's own objects after it.
	versions []string
	own      [][]*unstructured.Unstructured
	journal  *journal
	took     time.Duration
}

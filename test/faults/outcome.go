// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// outcome is the result of a run.
type outcome struct {
	problems []string
	writes   []*write
	tally    map[Key]tally
	end      state
	// versions holds the current resource version of the server before each step. own holds the objects of the tested
	// kind after each step.
	versions []string
	own      [][]*unstructured.Unstructured
	journal  *journal
	took     time.Duration
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is why a MachineConfig, or the result of merging several, cannot be applied.
type Problem struct {
	// MachineConfig is the name of the MachineConfig; empty for a problem of the merged configuration.
	MachineConfig string
	// Field is the path of the field, such as spec.config.storage.files[0].path.
	Field string
	// Message says what is wrong, and what to write instead.
	Message string
	// Kind classifies the problem.
	Kind Kind
}

// Kind classifies a problem.
type Kind string

// Values of Kind.
const (
	// Invalid: a config is not valid Ignition, or MachineConfigs contradict each other.
	Invalid Kind = "Invalid"
	// Unsupported: a config is valid, and opcrew does not support a part of it.
	Unsupported Kind = "Unsupported"
	// TooLarge: the merged configuration exceeds MaxSize or MaxUnpacked.
	TooLarge Kind = "TooLarge"
	// Missing: a Secret or its key does not exist.
	Missing Kind = "Missing"
)

// String describes the problem in one line.
func (p Problem) String() string {
	subject := "the merged configuration"
	if p.MachineConfig != "" {
		subject = "MachineConfig " + p.MachineConfig
	}
	return fmt.Sprintf("%s: %s: %s", subject, p.Field, p.Message)
}

// Problems are all problems of a pool's MachineConfigs, as an error.
type Problems []Problem

// mostListed is the number of problems that a message lists.
const mostListed = 3

// Error lists the first problems, and counts the others.
func (p Problems) Error() string {
	var lines []string
	for _, problem := range p[:min(len(p), mostListed)] {
		lines = append(lines, problem.String())
	}
	if more := len(p) - mostListed; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more", more))
	}
	return strings.Join(lines, "; ")
}

// Has reports whether one of the problems has a kind.
func (p Problems) Has(kind Kind) bool {
	return slices.ContainsFunc(p, func(one Problem) bool { return one.Kind == kind })
}

// notes collects problems and warnings.
type notes struct {
	// of is the MachineConfig that is being read.
	of       string
	problems Problems
	warnings []string
}

func (n *notes) invalid(field, message string, args ...any) { n.add(Invalid, field, message, args...) }

func (n *notes) unsupported(field, message string, args ...any) {
	n.add(Unsupported, field, message, args...)
}

func (n *notes) add(kind Kind, field, message string, args ...any) {
	n.problems = append(n.problems, Problem{n.of, field, fmt.Sprintf(message, args...), kind})
}

func (n *notes) warn(field, message string, args ...any) {
	n.warnings = append(n.warnings, Problem{MachineConfig: n.of, Field: field, Message: fmt.Sprintf(message, args...)}.String())
}

func (n *notes) failed() bool { return len(n.problems) > 0 }

func (n *notes) err() error {
	if !n.failed() {
		return nil
	}
	return n.problems
}

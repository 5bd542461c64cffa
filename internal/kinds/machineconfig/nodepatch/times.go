// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodepatch

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Updated returns the time at which the node completed a configuration; zero if it is not recorded.
func Updated(node *corev1.Node, config string) time.Time {
	return stamped(node, UpdatedAnnotation, config)
}

// Ordered returns the time of the order to change to a configuration; zero if it is not recorded.
func Ordered(node *corev1.Node, config string) time.Time {
	return stamped(node, OrderedAnnotation, config)
}

// Cordoned returns the time at which opcrew cordoned the node; zero if it did not, or if the time cannot be read.
func Cordoned(node *corev1.Node) time.Time { return parse(node.Annotations[CordonAnnotation]) }

func stamped(node *corev1.Node, annotation, config string) time.Time {
	name, text, _ := strings.Cut(node.Annotations[annotation], " ")
	if name != config {
		return time.Time{}
	}
	return parse(text)
}

func parse(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// Stamp returns the value of UpdatedAnnotation or OrderedAnnotation.
func Stamp(config string, at time.Time) string { return config + " " + format(at) }

func format(at time.Time) string { return at.UTC().Format(time.RFC3339) }

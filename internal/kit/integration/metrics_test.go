// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import "testing"

// conditionsOf returns the number of condition metrics of a widget.
func conditionsOf(t *testing.T, l *loop, name string) int {
	t.Helper()
	count, _ := l.metric(t, "opcrew_condition", "name", name)
	return count
}

// metric returns how many series of a metric have a label, and the sum of their counters.
func (l *loop) metric(t *testing.T, name, label, value string) (count int, sum float64) {
	t.Helper()
	families, err := l.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, pair := range m.GetLabel() {
				if family.GetName() == name && pair.GetName() == label && pair.GetValue() == value {
					count++
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return count, sum
}

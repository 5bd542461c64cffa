// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metric reads metrics in tests.
package metric

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Gauges returns the values of all gauges. A key is the name of the metric, followed by the values of its labels.
func Gauges(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			key := []string{family.GetName()}
			for _, l := range m.Label {
				key = append(key, l.GetValue())
			}
			out[strings.Join(key, " ")] = m.Gauge.GetValue()
		}
	}
	return out
}

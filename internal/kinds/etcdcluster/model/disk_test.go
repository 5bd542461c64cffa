// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestOnlyAVolumeOnTheDiskOfANodeIsBoundToIt(t *testing.T) {
	term := func(key string, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}
	}
	for name, c := range map[string]struct {
		terms []corev1.NodeSelectorTerm
		want  string
	}{
		"on any node":              {nil, ""},
		"on one":                   {[]corev1.NodeSelectorTerm{term(corev1.LabelHostname, "a")}, "a"},
		"on one of two":            {[]corev1.NodeSelectorTerm{term(corev1.LabelHostname, "a"), term(corev1.LabelHostname, "b")}, "a b"},
		"in a zone":                {[]corev1.NodeSelectorTerm{term(corev1.LabelTopologyZone, "a")}, ""},
		"on one or those in zones": {[]corev1.NodeSelectorTerm{term(corev1.LabelHostname, "a"), term(corev1.LabelTopologyZone, "b")}, ""},
	} {
		volume := &corev1.PersistentVolume{}
		if c.terms != nil {
			volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}
		}
		if got := strings.Join(NodesOf(volume), " "); got != c.want {
			t.Errorf("%s: expected it to be bound to %q, got %q", name, c.want, got)
		}
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Ignored returns the names of the spec fields that the user set and that have no effect.
func (m *MicroServiceDeploy) Ignored() []string {
	s := m.Spec
	var out []string
	for _, field := range []struct {
		name    string
		ignored bool
	}{
		{"auth (has an effect only with needAuth)", s.Auth != nil && !s.NeedAuth},
		{"configAs (has an effect only with config)", s.ConfigAs != "" && s.Config == ""},
		{"creationTimestamp", s.CreationTimestamp != "" && s.CreationTimestamp != "null"},
		{"maxReplicas (has an effect only with autoscaling)", s.MaxReplicas != nil && !s.Autoscaling},
		{"metrics (have an effect only with autoscaling)", len(s.Metrics) > 0 && !s.Autoscaling},
	} {
		if field.ignored {
			out = append(out, field.name)
		}
	}
	return out
}

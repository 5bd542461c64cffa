// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// Replaces reports whether a rollout replaces the pods of a MicroServiceDeploy, or creates the first pods.
func Replaces(m *customv1.MicroServiceDeploy, r workload.Rollout, configHash string) bool {
	if r.Deployment == nil {
		return true
	}
	return r.Replicas() > 0 && !ensure.Pin{Key: build.Settings(m, configHash)}.Matches(r.Deployment)
}

// NoRoom returns the name of the first ResourceQuota of another owner into which a new pod does not fit, and the
// resource of which too little is left.
func (t Tenant) NoRoom(m *customv1.MicroServiceDeploy) (name, why string) {
	for i := range t.All {
		q := &t.All[i]
		if t.has(q) || len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue
		}
		if why := short(t.Overheads.with(perPod(m), RuntimeClass(m)), free(q)); why != "" {
			return q.Name, why
		}
	}
	return "", ""
}

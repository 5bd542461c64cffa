// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kit"
)

// planAt returns the plan for the given facts at the given time.
func planAt(object *customv1.MicroServiceDeploy, f facts, now time.Time) kit.Plan {
	r := &reconciler{}
	return r.Plan(object, f, r.Decide(object, f, now))
}

// reportAt fills in the status for the given facts and outcome at the given time.
func reportAt(object *customv1.MicroServiceDeploy, f facts, done kit.Outcome, now time.Time) {
	r := &reconciler{}
	done.Now = now
	r.Report(object, f, r.Decide(object, f, now), done)
}

// decideAt returns the decision for the given facts.
func decideAt(object *customv1.MicroServiceDeploy, f facts) decision {
	return (&reconciler{}).Decide(object, f, someTime)
}

// templateOf returns the pod template that opcrew declares for a revision.
func templateOf(m *customv1.MicroServiceDeploy, f facts, r customv1.Revision) *corev1ac.PodTemplateSpecApplyConfiguration {
	return build.Template(m, build.Pods{Revision: r, Config: configOf(m, f.config, f.configs, r), AgentImage: f.agentImage})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

// decision is what plan and report both rest on.
type decision struct {
	revision customv1.Revision
	scale    scale
	// held says why pods stay as they are, whatever the spec says; nil: they do not.
	held *obstacle
	// nothing: there are no pods yet, and none can be made.
	nothing bool
}

// obstacle is a cause in the terms of a condition.
type obstacle struct {
	reason, message string
	// quota: it is the tenant's quota that has no room yet.
	quota bool
}

// decide is pure.
func decide(m *customv1.MicroServiceDeploy, f facts) decision {
	d := decision{scale: scaleOf(m, f.rollout, f.scaler != nil)}
	known := revisions(f.rollout)
	if f.rollout.Deployment == nil {
		known = m.Status.Revisions // what is remembered where nothing runs any more
	}
	revision, kept := choose(m, known, f.configName(m))
	d.revision = revision
	switch why := workload.InvalidImage(revision.Image); {
	case !kept:
		d.held = &obstacle{reason: customv1.ReasonRevisionMissing, message: fmt.Sprintf("spec.rollbackTo: revision %d is not kept; there are %s", *m.Spec.RollbackTo, numbers(known))}
	case why != "":
		d.held = &obstacle{reason: common.ReasonInvalidImage, message: "spec.image: " + why}
	case m.Spec.ConfigFrom != nil && f.config == nil && m.Spec.RollbackTo == nil:
		d.held = &obstacle{reason: customv1.ReasonConfigMissing, message: fmt.Sprintf("spec.configFrom: there is no Secret %s", m.Spec.ConfigFrom.SecretRef.Name)}
	case f.lostConfig(m, revision):
		d.held = &obstacle{reason: customv1.ReasonConfigMissing, message: fmt.Sprintf("the configuration %s of revision %d is gone", revision.Config, revision.Revision)}
	case m.Spec.NeedAuth && !f.credentials && (m.Spec.Auth != nil || f.foreign):
		d.held = &obstacle{reason: customv1.ReasonNoCredentials, message: f.noCredentials(m) + ", so nobody would be let in"}
	case m.Spec.NeedAuth && !f.credentials:
		// A kubelet brings a Secret that comes later to the pods after a minute or more.
		d.held = f.tenant.awaited(common.ReasonApplying, "The tenant's credentials are being made")
	default:
		d.held = f.room(m)
	}
	d.nothing = d.held != nil && f.rollout.Deployment == nil
	return d
}

// noCredentials says what a Secret of the user lacks.
func (f facts) noCredentials(m *customv1.MicroServiceDeploy) string {
	name := sources(m)[0].secret
	if !f.foreign {
		return "There is no Secret " + name
	}
	return fmt.Sprintf("Secret %s, which is not the operator's, has no usable line user:hash in its key %s (bcrypt or {SHA})", name, htpasswdKey)
}

// awaited is an obstacle that passes by itself, unless there is trouble.
func (f tenantFacts) awaited(reason, message string) *obstacle {
	if f.trouble != (obstacle{}) {
		return &obstacle{reason: f.trouble.reason, message: message + ", held up: " + f.trouble.message}
	}
	return &obstacle{reason: reason, message: message}
}

// configName is the configuration of the spec.
func (f facts) configName(m *customv1.MicroServiceDeploy) string {
	if f.config != nil {
		return f.config.Name
	}
	if c := declaredConfig(m); c != nil {
		return c.Name
	}
	return ""
}

// lostConfig reports whether a revision to go back to has lost its configuration.
func (f facts) lostConfig(m *customv1.MicroServiceDeploy, r customv1.Revision) bool {
	return r.Config != "" && r.Config != f.configName(m) && f.configs[r.Config] == nil
}

// configOf is the configuration that a revision runs with.
func (f facts) configOf(m *customv1.MicroServiceDeploy, r customv1.Revision) *config {
	switch {
	case r.Config == "":
		return nil
	case f.config != nil && f.config.Name == r.Config:
		return f.config
	}
	if c := declaredConfig(m); c != nil && c.Name == r.Config {
		return c
	}
	return f.configs[r.Config]
}

func numbers(known []customv1.Revision) string {
	var out []string
	for _, r := range known {
		out = append(out, fmt.Sprint(r.Revision))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// room says what is in the way of a rollout for which a quota has no room: without the
// surge pod it would stall in its middle, and Kubernetes try again after many minutes.
func (f facts) room(m *customv1.MicroServiceDeploy) *obstacle {
	d, changes := f.rollout.Deployment, true
	if d != nil {
		changes = f.rollout.Replicas() > 0 && !ensure.Pinned(d, wishes(m, f))
	}
	if (changes || grows(m, f.rollout)) && f.tenant.raising(m) {
		why := f.tenant.awaited(common.ReasonUpdating, "The tenant's quota is being raised")
		why.quota = true
		return why
	}
	if d == nil || !changes {
		return nil
	}
	for i := range f.quotas {
		q := &f.quotas[i]
		if f.tenant.has(q) || len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue
		}
		if why := short(f.tenant.overheads.with(perPod(m), runtimeClass(m)), free(q)); why != "" {
			return &obstacle{reason: customv1.ReasonQuotaTooSmall, message: fmt.Sprintf("The rollout does not fit into ResourceQuota %s: it needs %s; it begins when there is room", q.Name, why)}
		}
	}
	return nil
}

// grows reports whether there are to be more pods than there are: those of others that only
// share the quota are not held up by it.
func grows(m *customv1.MicroServiceDeploy, r workload.Rollout) bool {
	return !m.Spec.Idle && replicas(m) > r.Replicas()
}

// configsOf names the configurations that templates of a rollout mount.
func configsOf(r workload.Rollout) []string {
	var out []string
	add := func(template corev1.PodTemplateSpec) {
		if name := configName(template); name != "" {
			out = append(out, name)
		}
	}
	if r.Deployment != nil {
		add(r.Deployment.Spec.Template)
	}
	for _, set := range r.Sets {
		add(set.Spec.Template)
	}
	return out
}

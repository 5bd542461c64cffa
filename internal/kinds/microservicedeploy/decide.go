// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"strings"
	"time"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/hosts"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/workload"
)

// decision holds what Plan and Report need in addition to the observed state.
type decision struct {
	revision customv1.Revision
	// pods is the input for the pod template of the revision that should run. config is the name of the configuration
	// in the spec.
	pods   build.Pods
	config string
	// userConfigHash is the hash of the user's Secret with the configuration; empty if the spec names no Secret.
	userConfigHash string
	scale          scaling.Scale
	// held explains why the pods stay unchanged although the spec differs; nil if the pods follow the spec.
	held *obstacle
	// nothing is true if there are no pods yet and none can be created now.
	nothing bool
	// hosts are the host names that the MicroServiceDeploy has. lostHosts names each claimed host name that another
	// MicroServiceDeploy has, and that MicroServiceDeploy.
	hosts, lostHosts []string
	// again holds times after which opcrew reconciles even without an event; 0 means that no such reconcile is needed.
	again []time.Duration
}

// Decide decides from the facts alone, without side effects.
func (r *reconciler) Decide(m *customv1.MicroServiceDeploy, f facts, now time.Time) decision {
	known := revisions.List(f.rollout)
	if f.rollout.Deployment == nil {
		known = m.Status.Revisions // without a Deployment, only the status records the revisions
	}
	d := decision{scale: scaling.Decide(m, f.rollout, f.scaler != nil), config: specConfig(m, f.config), userConfigHash: configHash(f.config)}
	revision, kept := revisions.Choose(m, known, d.config)
	d.revision = revision
	d.pods = build.Pods{Revision: revision, Config: configOf(m, f.config, f.configs, revision), AgentImage: f.agentImage}
	d.hosts, d.lostHosts = hosts.Assign(m, f.rivals)
	d.held = hold(m, holdInput{
		revision: revision, kept: kept, known: known, config: f.config, configLost: revision.Config != "" && d.pods.Config == nil,
		usable: f.credentials, foreign: f.foreign, rollout: f.rollout, tenant: f.tenant, trouble: f.trouble,
	})
	d.nothing = d.held != nil && f.rollout.Deployment == nil
	d.again = []time.Duration{again(m, d.held, f.credentials), f.rollout.StuckIn(now)}
	return d
}

// specConfig returns the name of the configuration in the spec: a user's Secret, or an object that opcrew creates.
func specConfig(m *customv1.MicroServiceDeploy, ofUser *config.Config) string {
	if ofUser != nil {
		return ofUser.Name
	}
	if c := config.Declared(m); c != nil {
		return c.Name
	}
	return ""
}

// configOf returns the configuration of a revision; nil if the revision has none, or its object no longer exists.
func configOf(m *customv1.MicroServiceDeploy, ofUser *config.Config, stored map[string]*config.Config, r customv1.Revision) *config.Config {
	switch {
	case r.Config == "":
		return nil
	case ofUser != nil && ofUser.Name == r.Config:
		return ofUser
	}
	if c := config.Declared(m); c != nil && c.Name == r.Config {
		return c
	}
	return stored[r.Config]
}

// again returns the time until opcrew reads users' Secrets and quotas again; 0 means never. opcrew does not watch all
// of these Secrets, and does not watch how much of a quota is used.
func again(m *customv1.MicroServiceDeploy, held *obstacle, credentials bool) time.Duration {
	switch {
	case held != nil && (held.reason == customv1.ReasonQuotaTooSmall || held.reason == customv1.ReasonConfigMissing):
		return waitInterval
	case m.Spec.NeedAuth && !credentials:
		return waitInterval
	case m.Spec.ConfigFrom != nil || m.Spec.NeedAuth && m.Spec.Auth != nil:
		return secretInterval
	}
	return 0
}

// running returns the number of the revision that runs or is being rolled out; 0 if no revision runs.
func (d decision) running(r workload.Rollout) int64 {
	if d.held == nil {
		return d.revision.Revision
	}
	if r.Deployment == nil {
		return 0
	}
	running, ok := revisions.Of(r.Deployment.Spec.Template)
	if !ok {
		return 0
	}
	return running.Revision
}

// rolledBack returns a message if an earlier revision runs because of spec.rollbackTo. The message names the parts of
// the spec that are ignored while this revision runs. rolledBack returns "" if the image and configuration in the spec
// run.
func (d decision) rolledBack(m *customv1.MicroServiceDeploy) string {
	if m.Spec.RollbackTo == nil || d.held != nil {
		return ""
	}
	var unused []string
	if m.Spec.Image != d.revision.Image {
		unused = append(unused, "spec.image "+m.Spec.Image)
	}
	if d.config != d.revision.Config {
		unused = append(unused, "the configuration of the spec")
	}
	if len(unused) == 0 {
		return ""
	}
	return fmt.Sprintf("spec.rollbackTo keeps revision %d running instead of %s; remove spec.rollbackTo to apply the spec", d.revision.Revision, strings.Join(unused, " and "))
}

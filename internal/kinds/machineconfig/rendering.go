// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// rightsWait is the time between two checks of a right that a requester lacks, or of a Secret that cannot be used.
const rightsWait = time.Minute

// secretAge is how old the data of users' Secrets may be. opcrew does not watch them, because the layer that changes
// nodes must not be able to read all Secrets.
const secretAge = time.Hour

// rendering is the configuration of a pool, or why there is none. The process remembers it until its sources change or
// it is over.
type rendering struct {
	// of identifies the sources, and at is the time at which they were read.
	of string
	at time.Time

	rendered *render.Rendered
	host     hostconfig.Config
	encoded  []byte
	// problem is why the configuration is not applied.
	problem *problem
	// usesSecrets is set if contents come from Secrets of users; newKey is set if the key for their hashes is new.
	usesSecrets, newKey bool
}

// problem is why a configuration cannot be rendered, or must not be applied.
type problem struct{ reason, message string }

// lasts returns how long the rendering is valid if its sources do not change; zero for ever. Rights can change at any
// time, and so can Secrets, which opcrew does not watch.
func (r *rendering) lasts() time.Duration {
	passes := r.problem != nil && slices.Contains([]string{common.ReasonRequesterMayNot, mcfgv1.ReasonPolicyMissing}, r.problem.reason)
	switch {
	case passes || r.problem != nil && r.usesSecrets:
		return rightsWait
	case r.usesSecrets:
		return secretAge
	}
	return 0
}

func (r *rendering) isOver(now time.Time) bool { return r.lasts() > 0 && now.Sub(r.at) >= r.lasts() }

// name returns the name of the configuration; empty if there is none.
func (r *rendering) name() string {
	if r.problem != nil {
		return ""
	}
	return r.host.Name
}

// render returns the configuration of a pool.
func (r *poolReconciler) render(ctx context.Context, pool *mcfgv1.MachineConfigPool, configs []mcfgv1.MachineConfig, key *[]byte) (rendering, error) {
	of, now := identify(pool, configs, *key), r.Clock.Now()
	if old := r.renderings.Get(pool.Name); old != nil && old.of == of && !old.isOver(now) {
		return *old, nil
	}
	out := rendering{of: of, at: now}
	if err := r.merge(ctx, pool, configs, key, &out); err != nil {
		return out, err
	}
	if out.newKey && out.problem != nil {
		*key, out.newKey = nil, false // nothing is delivered, so the key is not stored
	}
	if !out.newKey {
		r.renderings.Set(pool.Name, &out)
	}
	return out, nil
}

// identify returns a text that changes when a source of a pool changes, its requester, or whether it has a key.
func identify(pool *mcfgv1.MachineConfigPool, configs []mcfgv1.MachineConfig, key []byte) string {
	parts := []string{string(pool.UID), pool.Annotations[common.RequesterAnnotation], fmt.Sprintf("%t %x", key == nil, key)}
	for _, mc := range configs {
		parts = append(parts, mc.Name, string(mc.UID), mc.ResourceVersion)
	}
	return strings.Join(parts, " ")
}

// merge renders the MachineConfigs, and puts the data of Secrets in. It reads no Secret before it has checked the rights
// of the requesters, because even a message about the data would be a fact about it.
func (r *poolReconciler) merge(ctx context.Context, pool *mcfgv1.MachineConfigPool, configs []mcfgv1.MachineConfig, key *[]byte, out *rendering) error {
	var err error
	if out.rendered, err = render.Render(configs); err != nil {
		out.problem = problemOf(err)
		return nil
	}
	if out.usesSecrets = len(out.rendered.Secrets) > 0; out.usesSecrets {
		if out.problem, err = r.permit(ctx, pool, configs, out.rendered.Secrets); err != nil || out.problem != nil {
			return err
		}
		out.takeKey(pool, key)
	}
	if out.problem == nil {
		err = r.complete(ctx, pool, *key, out)
	}
	if isNew := out.host.Name != fleet.Target(pool); isNew && !out.usesSecrets && err == nil && out.problem == nil {
		out.problem, err = r.permit(ctx, pool, configs, nil)
	}
	return err
}

// complete puts the data of Secrets into the configuration.
func (r *poolReconciler) complete(ctx context.Context, pool *mcfgv1.MachineConfigPool, key []byte, out *rendering) error {
	values, denied, err := r.values(ctx, out.rendered.Secrets)
	if err != nil || denied != nil {
		out.problem = denied
		return err
	}
	if out.host, out.encoded, err = out.rendered.Complete(pool.Name, values, hashWith(key)); err != nil {
		out.problem = problemOf(err)
	}
	return nil
}

func problemOf(err error) *problem {
	reason := mcfgv1.ReasonInvalidConfig
	if all, is := errors.AsType[render.Problems](err); is {
		switch {
		case all.Has(render.Invalid):
		case all.Has(render.Unsupported):
			reason = mcfgv1.ReasonUnsupportedConfig
		case all.Has(render.Missing):
			reason = mcfgv1.ReasonSecretMissing
		case all.Has(render.TooLarge):
			reason = mcfgv1.ReasonConfigTooLarge
		}
	}
	return &problem{reason, err.Error()}
}

func labelsOf(object client.Object) labels.Set { return object.GetLabels() }

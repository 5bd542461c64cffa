// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// secretAge is how old the data of users' Secrets may be. opcrew does not watch them, because the layer that changes
// nodes must not be able to read all Secrets.
const secretAge = time.Hour

// rendering is the configuration of a pool, or why there is none. The process remembers it until its sources change.
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

// name returns the name of the configuration; empty if there is none.
func (r *rendering) name() string {
	if r.problem != nil {
		return ""
	}
	return r.host.Name
}

// render returns the configuration of a pool. It checks the rights of the requesters if the result is new.
func (r *poolReconciler) render(ctx context.Context, pool *mcfgv1.MachineConfigPool, configs []mcfgv1.MachineConfig, key *[]byte) (rendering, error) {
	of, now := identify(pool, configs), r.Clock.Now()
	if old := r.renderings.Get(pool.Name); old != nil && old.of == of && (!old.usesSecrets || now.Sub(old.at) < secretAge) {
		return *old, nil
	}
	out := rendering{of: of, at: now}
	if err := r.merge(ctx, configs, pool.Name, key, &out); err != nil {
		return out, err
	}
	if out.problem == nil && out.host.Name != fleet.Target(pool) {
		var err error
		if out.problem, err = r.permit(ctx, pool, configs, out.rendered.Secrets); err != nil || out.problem != nil {
			return out, err // not remembered, because rights can change at any time
		}
	}
	if !out.newKey && (out.problem == nil || !out.usesSecrets) {
		r.renderings.Set(pool.Name, &out)
	}
	return out, nil
}

// identify returns a text that changes when a source of a pool changes.
func identify(pool *mcfgv1.MachineConfigPool, configs []mcfgv1.MachineConfig) string {
	parts := []string{string(pool.UID)}
	for _, mc := range configs {
		parts = append(parts, mc.Name, string(mc.UID), mc.ResourceVersion)
	}
	return strings.Join(parts, " ")
}

// merge renders the MachineConfigs, and puts the data of Secrets in.
func (r *poolReconciler) merge(ctx context.Context, configs []mcfgv1.MachineConfig, pool string, key *[]byte, out *rendering) error {
	rendered, err := render.Render(configs)
	if err != nil {
		out.problem = problemOf(err)
		return nil
	}
	out.rendered, out.usesSecrets = rendered, len(rendered.Secrets) > 0
	if out.usesSecrets && len(*key) == 0 {
		*key, out.newKey = newKey(), true
	}
	values, denied, err := r.values(ctx, rendered.Secrets)
	if err != nil || denied != nil {
		out.problem = denied
		return err
	}
	host, encoded, err := rendered.Complete(pool, values, hashWith(*key))
	if err != nil {
		out.problem = problemOf(err)
		return nil
	}
	out.host, out.encoded = host, encoded
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

// values reads the Secrets that a configuration names from the API server.
func (r *poolReconciler) values(ctx context.Context, uses []render.SecretUse) (render.Values, *problem, error) {
	secrets := map[client.ObjectKey]*corev1.Secret{}
	for _, use := range uses {
		key := client.ObjectKey{Namespace: use.Namespace, Name: use.Name}
		if _, read := secrets[key]; read {
			continue
		}
		secret := &corev1.Secret{}
		switch err := r.Live.Get(ctx, key, secret); {
		case apierrors.IsForbidden(err):
			return nil, unreadable(key), nil
		case client.IgnoreNotFound(err) != nil:
			return nil, nil, fmt.Errorf("read Secret %s: %w", key, err)
		}
		secrets[key] = secret
	}
	return func(k render.SecretKey) ([]byte, bool) {
		data, found := secrets[client.ObjectKey{Namespace: k.Namespace, Name: k.Name}].Data[k.Key]
		return data, found
	}, nil, nil
}

// secretsRole is the role with which an administrator lets opcrew read the Secrets of a namespace.
const secretsRole = "opcrew-machine-secrets"

func unreadable(key client.ObjectKey) *problem {
	return &problem{mcfgv1.ReasonSecretMissing, fmt.Sprintf("opcrew may not read Secret %s in namespace %s: an administrator can grant it with kubectl create rolebinding "+
		"opcrew-machine-secrets -n %s --clusterrole %s --serviceaccount opcrew-system:opcrew-machines", key.Name, key.Namespace, key.Namespace, secretsRole)}
}

func newKey() []byte {
	out := make([]byte, sha256.Size)
	_, _ = rand.Read(out) // never fails
	return out
}

// hashWith returns the hash of secret data, by which no one without the key can guess short secrets.
func hashWith(key []byte) func([]byte) string {
	return func(data []byte) string {
		mac := hmac.New(sha256.New, key)
		mac.Write(data)
		return hex.EncodeToString(mac.Sum(nil))
	}
}

func labelsOf(object client.Object) labels.Set { return object.GetLabels() }

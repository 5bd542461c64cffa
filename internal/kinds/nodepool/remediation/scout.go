// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pipeline"
	"github.com/opcrew/opcrew/internal/kit"
)

// Report Secrets in secretEnvs of spec.remediation that do not exist, before a machine is dead.
// +kubebuilder:rbac:groups="",namespace=opcrew-activities,resources=secrets,verbs=get

const (
	// secretAge is the age from which a reconcile reads Secrets again, and secretRetry how soon this is done while one
	// is missing.
	secretAge   = 10 * time.Minute
	secretRetry = time.Minute
)

// Scout finds out, before a machine is dead, what a remediation lacks. It remembers which Secrets exist, so that it causes no
// request while nothing changes.
type Scout struct {
	// Cached reads nodes, and Live reads Secrets.
	Cached, Live client.Reader
	Clock        clock.PassiveClock
	memory       kit.Memory[string, scouted]
}

// scouted is what was read for a generation of a NodePool.
type scouted struct {
	uid        types.UID
	generation int64
	at         time.Time
	missing    []Missing
}

// Observe reads what the settings of a NodePool refer to.
func (s *Scout) Observe(ctx context.Context, pool *nodesv1.NodePool) (Outlook, error) {
	out := Outlook{Missing: s.missing(ctx, pool)}
	if len(pool.Spec.Remediation.Fence.OnNodes)+len(pool.Spec.Remediation.PowerStatus.OnNodes) == 0 {
		return out, nil
	}
	nodes := &corev1.NodeList{}
	if err := s.Cached.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return out, fmt.Errorf("list nodes: %w", err)
	}
	out.Unmatched = unmatched(pool.Spec.Remediation, nodes.Items)
	return out, nil
}

// Forget forgets a NodePool that was deleted.
func (s *Scout) Forget(pool string) { s.memory.Forget(pool) }

func (s *Scout) missing(ctx context.Context, pool *nodesv1.NodePool) []Missing {
	names := secretsOf(pool.Spec.Remediation)
	if len(names) == 0 {
		return nil
	}
	known := s.memory.Get(pool.Name)
	if known.uid == pool.UID && known.generation == pool.Generation && s.Clock.Since(known.at) < known.age() {
		return known.missing
	}
	known = scouted{pool.UID, pool.Generation, s.Clock.Now(), missing(pool.Spec.Remediation, s.secrets(ctx, names))}
	s.memory.Set(pool.Name, known)
	return known.missing
}

func (k scouted) age() time.Duration {
	if len(k.missing) > 0 {
		return secretRetry
	}
	return secretAge
}

// secrets reads Secrets; nil stands for one that does not exist. A Secret that cannot be read has no entry, because a
// warning in advance must delay nothing. The Activity of the command reports what is wrong then.
func (s *Scout) secrets(ctx context.Context, names []string) map[string]*corev1.Secret {
	out := map[string]*corev1.Secret{}
	for _, name := range names {
		secret := &corev1.Secret{}
		err := s.Live.Get(ctx, client.ObjectKey{Namespace: pipeline.Namespace, Name: name}, secret)
		switch {
		case err == nil:
			out[name] = secret
		case apierrors.IsNotFound(err):
			out[name] = nil
		}
	}
	return out
}

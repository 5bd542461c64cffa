// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

func (r *reconciler) observeSecrets(ctx context.Context, a *egov1.Activity, f *facts) error {
	if len(a.Spec.SecretEnvs) == 0 {
		return nil
	}
	var reader client.Reader = r.Client
	if a.DeletionTimestamp != nil {
		reader = r.Live // live, so that nothing is left behind
	}
	list := &corev1.SecretList{}
	if err := reader.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("read values of secretEnvs: %w", err)
	}
	f.secrets = list.Items
	return nil
}

// values reads the values of secretEnvs.
func (r *reconciler) values(ctx context.Context, a *egov1.Activity) (map[string][]byte, *run.Obstacle, error) {
	values := map[string][]byte{}
	for _, e := range a.Spec.SecretEnvs {
		secret := &corev1.Secret{}
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: e.Secret}, secret)
		if client.IgnoreNotFound(err) != nil {
			return nil, nil, fmt.Errorf("read Secret %s: %w", e.Secret, err)
		}
		value, ok := secret.Data[e.Key]
		if !ok {
			return nil, &run.Obstacle{Reason: egov1.ReasonSecretMissing, Message: fmt.Sprintf("secretEnvs: there is no key %s in a Secret %s", e.Key, e.Secret)}, nil
		}
		values[e.Name] = value
	}
	return values, nil, nil
}

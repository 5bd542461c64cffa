// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

func (r *reconciler) observeSecrets(ctx context.Context, a *egov1.Activity, f *facts) error {
	if len(a.Spec.SecretEnvs) == 0 {
		return nil
	}
	var reader client.Reader = r.Client
	if a.DeletionTimestamp != nil {
		reader = r.Live // nothing must be left
	}
	list := &corev1.SecretList{}
	if err := reader.List(ctx, list, client.InNamespace(Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("read values of secretEnvs: %w", err)
	}
	f.secrets = list.Items
	return nil
}

// hasValues reports whether those of the present run are there for its pod.
func (f facts) hasValues(a *egov1.Activity) bool {
	return slices.ContainsFunc(f.secrets, func(s corev1.Secret) bool { return s.Name == podName(a, run(a)) })
}

// values reads those of secretEnvs.
func (r *reconciler) values(ctx context.Context, a *egov1.Activity) (map[string][]byte, *obstacle, error) {
	values := map[string][]byte{}
	for _, e := range a.Spec.SecretEnvs {
		secret := &corev1.Secret{}
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: e.Secret}, secret)
		if client.IgnoreNotFound(err) != nil {
			return nil, nil, fmt.Errorf("read Secret %s: %w", e.Secret, err)
		}
		value, ok := secret.Data[e.Key]
		if !ok {
			return nil, &obstacle{reason: egov1.ReasonSecretMissing, message: fmt.Sprintf("secretEnvs: there is no key %s in a Secret %s", e.Key, e.Secret)}, nil
		}
		values[e.Name] = value
	}
	return values, nil, nil
}

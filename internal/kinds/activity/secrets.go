// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		reader = r.Live // a stale cache could hide a Secret, which would then never be deleted
	}
	list := &corev1.SecretList{}
	if err := reader.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("read values of secretEnvs: %w", err)
	}
	f.secrets = list.Items
	return nil
}

// values reads the values of spec.secretEnvs. It returns an obstacle if a value is missing.
func (r *reconciler) values(ctx context.Context, a *egov1.Activity) (map[string][]byte, *run.Obstacle, error) {
	values := map[string][]byte{}
	for _, e := range a.Spec.SecretEnvs {
		secret := &corev1.Secret{}
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: e.Secret}, secret)
		if apierrors.IsForbidden(err) {
			return nil, &run.Obstacle{Reason: egov1.ReasonSecretMissing, Message: unbound(a.Namespace, e.Secret)}, nil
		}
		if client.IgnoreNotFound(err) != nil {
			return nil, nil, fmt.Errorf("read Secret %s: %w", e.Secret, err)
		}
		value, ok := secret.Data[e.Key]
		if !ok {
			return nil, &run.Obstacle{Reason: egov1.ReasonSecretMissing, Message: fmt.Sprintf("spec.secretEnvs: the key %s or its Secret %s does not exist", e.Key, e.Secret)}, nil
		}
		values[e.Name] = value
	}
	return values, nil, nil
}

// secretsRole is the role that lets opcrew read Secrets. An administrator binds it in individual namespaces. opcrew
// does not install a binding, because it must not be able to read the Secrets of all namespaces.
const secretsRole = "opcrew-activity-secrets-machines"

// unbound explains how to let opcrew read the Secrets of a namespace.
func unbound(namespace, secret string) string {
	return fmt.Sprintf("spec.secretEnvs: opcrew is not allowed to read Secret %s; an administrator of the namespace can allow this with: kubectl create rolebinding opcrew-activity-secrets "+
		"--namespace %s --clusterrole %s --serviceaccount opcrew-system:opcrew-machines", secret, namespace, secretsRole)
}

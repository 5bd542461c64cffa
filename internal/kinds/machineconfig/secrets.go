// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
)

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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/rotation"
)

// observeKeys reads the Secret. If the cache has none, it reads from the API server, because creating a second pair
// would lock the manager out.
func (r *reconciler) observeKeys(ctx context.Context, d *opsv1.Diva, f *facts) error {
	f.given = r.observeGiven(ctx, d)
	secret, key := &corev1.Secret{}, client.ObjectKey{Namespace: d.Namespace, Name: names.SecretName(d)}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) && d.DeletionTimestamp == nil {
		err = r.Live.Get(ctx, key, secret)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read key pair: %w", err)
	}
	if err == nil && (metav1.IsControlledBy(secret, d) || secret.Labels[common.OwnerLabel] == string(d.UID)) {
		f.secret, f.ring = secret, ring.Parse(secret)
	}
	if f.ring != nil && f.ring.Host != nil && !rotation.Due(d, f.ring, keys.Given{}, f.now) {
		return nil
	}
	comment := "opcrew " + d.Namespace + "/" + d.Name
	if f.fresh.pair, err = keys.New(comment); err == nil {
		f.fresh.host, err = keys.New(comment)
	}
	return err
}

// observeGiven reads the pair that the user provides. A user's Secret is not in the cache. If it cannot be read, only
// changes of the pair wait.
func (r *reconciler) observeGiven(ctx context.Context, d *opsv1.Diva) keys.Given {
	if d.Spec.SSH == nil || d.Spec.SSH.SecretRef == nil {
		return keys.Inline(d)
	}
	name, secret := d.Spec.SSH.SecretRef.Name, &corev1.Secret{}
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: name}, secret); client.IgnoreNotFound(err) != nil {
		message := fmt.Sprintf("spec.ssh.secretRef: Secret %s cannot be read: %v", name, err)
		return keys.Given{Problem: &keys.Problem{Reason: common.ReasonReadFailed, Message: message}}
	}
	return keys.FromSecret(name, secret.Data)
}

// observeServed reads which files pods serve, but only while the pair is being changed.
func (r *reconciler) observeServed(ctx context.Context, d *opsv1.Diva, f *facts) error {
	if f.ring == nil || !rotation.Changing(d, f.ring) {
		r.served.Forget(client.ObjectKeyFromObject(d))
		return nil
	}
	pods := slices.Concat(boundClients(f.clients), boundManagers(f.manager))
	f.serving = r.served.Digests(ctx, client.ObjectKeyFromObject(d), pods, f.ring.Digests(d))
	return nil
}

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

// observeKeys reads the Secrets with keys. If the cache has no Secret, observeKeys also reads from the API server: if
// opcrew created a second key pair by mistake, the manager pods could no longer log in.
func (r *reconciler) observeKeys(ctx context.Context, d *opsv1.Diva, f *facts) (err error) {
	f.given = r.observeGiven(ctx, d)
	if f.secret, err = r.ownSecret(ctx, d, f, names.SecretName(d)); err != nil {
		return err
	}
	if f.server, err = r.ownSecret(ctx, d, f, names.ServerSecretName(d)); err != nil {
		return err
	}
	f.ring = ring.Parse(f.secret)
	return createFresh(d, f)
}

// ownSecret returns a Secret that opcrew created for a Diva; nil if there is none. If the Secret belongs to another
// owner, ownSecret records its name in the facts.
func (r *reconciler) ownSecret(ctx context.Context, d *opsv1.Diva, f *facts, name string) (*corev1.Secret, error) {
	secret, key := &corev1.Secret{}, client.ObjectKey{Namespace: d.Namespace, Name: name}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) && d.DeletionTimestamp == nil {
		err = r.Live.Get(ctx, key, secret)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Secret %s: %w", key, err)
	case metav1.IsControlledBy(secret, d) || secret.Labels[common.OwnerLabel] == string(d.UID):
		return secret, nil
	}
	f.foreign = name
	return nil, nil
}

// createFresh generates the random values that a plan may need: key pairs, and a seed (random bytes for host keys).
func createFresh(d *opsv1.Diva, f *facts) (err error) {
	if f.ring != nil && f.ring.Seed != "" && !f.ring.Sharing() && !sharing(d, f.clients) && !rotation.Due(d, f.ring, keys.Given{}, f.now) {
		return nil
	}
	f.fresh.seed = keys.NewSeed()
	comment := "opcrew " + d.Namespace + "/" + d.Name
	if f.fresh.pair, err = keys.New(comment); err == nil {
		f.fresh.host, err = keys.New(comment)
	}
	return err
}

// observeGiven reads the key pair that the user provides. The cache does not contain users' Secrets. If the Secret
// cannot be read, only changes of the key pair are delayed.
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

// observeServed reads which SSH files the pods serve, but only while the keys are being changed.
func (r *reconciler) observeServed(ctx context.Context, d *opsv1.Diva, f *facts) error {
	if f.ring == nil || !rotation.Changing(d, f.ring) {
		r.served.Forget(client.ObjectKeyFromObject(d))
		return nil
	}
	pods := slices.Concat(boundClients(f.clients), boundManagers(f.manager))
	f.serving = r.served.Digests(ctx, client.ObjectKeyFromObject(d), pods, wantedDigest(d, *f))
	return nil
}

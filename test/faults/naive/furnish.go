// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package naive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// street is the name of a ConfigMap that lists the open Shops. Its keys are the names of these Shops.
const street = "street"

// furnish creates what belongs to a Shop: its Secret (the key), its ConfigMap (the sign), and its entry in the
// ConfigMap that lists all open Shops (the street).
func (r *reconciler) furnish(ctx context.Context, shop *Shop) error {
	made, err := r.key(ctx, shop)
	if err != nil {
		return err
	}
	if err := r.sign(ctx, shop, made || !r.has(KeyMeansSign)); err != nil {
		return err
	}
	if shop.Spec.Open {
		return r.list(ctx, shop)
	}
	if r.has(CleansOnDelete) || r.has(IgnoresTombstones) {
		return nil
	}
	return r.strike(ctx, shop)
}

// key creates the shop's key, a Secret, if the shop has none.
func (r *reconciler) key(ctx context.Context, shop *Shop) (made bool, err error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name + "-key"}}
	if r.has(RandomNames) || r.has(Polls) {
		if has, err := r.hasKey(ctx, shop); has || err != nil {
			return false, err
		}
		secret.Name, secret.GenerateName = "", shop.Name+"-key-"
	} else if err := r.Get(ctx, client.ObjectKeyFromObject(secret), secret); err == nil && metav1.IsControlledBy(secret, shop) {
		return false, nil
	}
	secret.ResourceVersion, secret.UID, secret.OwnerReferences = "", "", nil
	err = r.make(ctx, shop, secret)
	if err == nil && r.has(Polls) {
		err = errOld // the next reconcile does the remaining work, once the cache contains the Secret
	}
	return true, err
}

// hasKey reports whether the shop owns a Secret, whatever its name. It reads from the cache only with the bug Polls.
func (r *reconciler) hasKey(ctx context.Context, shop *Shop) (bool, error) {
	from := r.live
	if r.has(Polls) {
		from = r.Client
	}
	all := &corev1.SecretList{}
	err := from.List(ctx, all, client.InNamespace(shop.Namespace))
	return slices.ContainsFunc(all.Items, func(s corev1.Secret) bool { return metav1.IsControlledBy(&s, shop) }), err
}

// sign updates the ConfigMap (the "sign") of a Shop. If may is false, it does not create a missing ConfigMap.
func (r *reconciler) sign(ctx context.Context, shop *Shop, may bool) error {
	sign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name + "-sign"}}
	err := r.Get(ctx, client.ObjectKeyFromObject(sign), sign)
	if err == nil && metav1.IsControlledBy(sign, shop) {
		return r.paint(ctx, shop, sign)
	}
	if !may {
		return nil
	}
	sign = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name + "-sign"}}
	sign.Data = map[string]string{"color": shop.Spec.Color}
	if err := r.make(ctx, shop, sign); err != nil || sign.Data["color"] == shop.Spec.Color {
		return err
	}
	return r.paint(ctx, shop, sign) // the ConfigMap exists, but the cache does not contain it yet
}

func (r *reconciler) paint(ctx context.Context, shop *Shop, sign *corev1.ConfigMap) error {
	want := map[string]string{"color": shop.Spec.Color}
	key := client.ObjectKeyFromObject(shop)
	if r.has(LeavesItsMark) {
		want["painter"] = r.id
	}
	if r.has(WritesAlways) {
		want["time"] = time.Now().Format(time.RFC3339Nano)
	}
	if r.has(WritesAtStart) && !r.started[key] {
		r.started[key] = true
	} else if maps.Equal(sign.Data, want) {
		return nil
	}
	if err := r.current(ctx, shop); err != nil {
		return err
	}
	sign.Data = want
	return r.Update(ctx, sign)
}

// make creates a child object of the shop. If the child already exists, make reads it and returns an error unless it
// belongs to the shop.
func (r *reconciler) make(ctx context.Context, shop *Shop, child client.Object) error {
	if err := r.current(ctx, shop); err != nil {
		return err
	}
	if err := controllerutil.SetControllerReference(shop, child, r.Scheme()); err != nil {
		return err
	}
	if r.has(Impatient) {
		// If the server throttles the write, the client waits for a second before it retries. That exceeds this limit.
		short, cancel := context.WithTimeout(ctx, 900*time.Millisecond)
		defer cancel()
		if err := r.Create(short, child); short.Err() == nil {
			return err
		}
		return nil
	}
	err := r.Create(ctx, child)
	if r.has(RandomNames) && err != nil {
		err = r.Create(ctx, child) // the bug is to assume that the first request did not reach the server
	}
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(child), child); err != nil {
		return err
	}
	if !metav1.IsControlledBy(child, shop) {
		return fmt.Errorf("%s is there and is not the shop's", child.GetName())
	}
	return nil
}

// list adds the Shop to the street, the ConfigMap that lists the open Shops. With the bug LedgerInMemory, only the
// memory of this process records that the Shop was added.
func (r *reconciler) list(ctx context.Context, shop *Shop) error {
	wrote := false
	err := r.change(ctx, shop, false, func(data map[string]string) {
		wrote = data[shop.Name] != shop.Spec.Color
		data[shop.Name] = shop.Spec.Color
	})
	if wrote && err == nil {
		r.mu.Lock()
		r.listed[shop.Name] = true
		r.mu.Unlock()
	}
	return err
}

// strike removes the Shop from the street, the ConfigMap that lists the open Shops.
func (r *reconciler) strike(ctx context.Context, shop *Shop) error {
	r.mu.Lock()
	known := r.listed[shop.Name]
	delete(r.listed, shop.Name)
	r.mu.Unlock()
	if r.has(LedgerInMemory) && !known {
		return nil
	}
	return r.change(ctx, shop, true, func(data map[string]string) { delete(data, shop.Name) })
}

// change edits the data of the street, the ConfigMap that lists the open Shops. It reads the ConfigMap from the server:
// changes of the ConfigMap start no reconcile, so nothing would correct a decision from a stale cache. It writes only
// changed data.
func (r *reconciler) change(ctx context.Context, shop *Shop, closes bool, change func(map[string]string)) error {
	var from client.Reader = r.Client
	if closes || !r.has(TrustsOldViews) {
		from = r.live
	}
	there := &corev1.ConfigMap{}
	if err := from.Get(ctx, types.NamespacedName{Namespace: shop.Namespace, Name: street}, there); err != nil {
		return client.IgnoreNotFound(err)
	}
	data := maps.Clone(there.Data)
	change(data)
	if maps.Equal(data, there.Data) {
		return nil
	}
	if !closes {
		if err := r.current(ctx, shop); err != nil {
			return err
		}
	}
	there.Data = data
	if r.has(OverwritesOthers) {
		there.ResourceVersion = ""
	}
	return r.Update(ctx, there)
}

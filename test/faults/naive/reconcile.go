// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package naive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = "test.opcrew.io/shop"

// soon is the time after which the bug Polls reads its cache again. Without faults, the cache then contains a Secret
// that the controller has just created. With delayed events, it does not.
const soon = 100 * time.Millisecond

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// errOld ends a reconcile that has read a stale Shop from the cache.
var errOld = errors.New("the shop is no longer as the cache has it")

// errWorking is the error that a controller with the bug StatusFirst writes into the status before it starts its work.
var errWorking = errors.New("at work")

type reconciler struct {
	client.Client
	live client.Reader
	bugs []Bug
	id   string // identifies the operator process

	mu      sync.Mutex
	listed  map[string]bool                   // open Shops that were added to the list, for the bug LedgerInMemory
	done    map[types.NamespacedName]ShopSpec // Shops whose spec was carried out, for the bug RemembersNames
	started map[types.NamespacedName]bool
}

func newReconciler(c client.Client, live client.Reader, bugs []Bug) *reconciler {
	return &reconciler{
		Client: c, live: live, bugs: bugs, id: string(uuid.NewUUID()),
		listed: map[string]bool{}, done: map[types.NamespacedName]ShopSpec{}, started: map[types.NamespacedName]bool{},
	}
}

func (r *reconciler) has(bug Bug) bool { return slices.Contains(r.bugs, bug) }

// Reconcile implements reconcile.Reconciler. Only one worker calls it.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	shop := &Shop{}
	if err := r.Get(ctx, req.NamespacedName, shop); err != nil {
		delete(r.done, req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.has(RemembersNames) && shop.DeletionTimestamp == nil && r.done[req.NamespacedName] == shop.Spec {
		return ctrl.Result{}, nil
	}
	if r.has(StatusFirst) && shop.DeletionTimestamp == nil {
		if shop.Status.ObservedGeneration == shop.Generation {
			return ctrl.Result{}, nil
		}
		if err := r.report(ctx, shop, errWorking); err != nil {
			return ctrl.Result{}, err
		}
	}
	err := r.bring(ctx, shop)
	if err == nil && shop.DeletionTimestamp == nil {
		r.done[req.NamespacedName] = shop.Spec
	}
	if r.has(Polls) && shop.DeletionTimestamp == nil && errors.Is(err, errOld) {
		return ctrl.Result{RequeueAfter: soon}, nil
	}
	return ctrl.Result{}, r.forgive(err)
}

// bring creates, updates or deletes the objects of a shop until they match its spec.
func (r *reconciler) bring(ctx context.Context, shop *Shop) error {
	if shop.DeletionTimestamp != nil {
		return r.reported(ctx, shop, r.close(ctx, shop))
	}
	err := r.open(ctx, shop)
	if passes(err) {
		return err
	}
	if r.has(KeepsQuiet) && err != nil {
		return err
	}
	if r.has(ReadyAnyway) {
		return errors.Join(err, r.report(ctx, shop, nil))
	}
	return errors.Join(err, r.report(ctx, shop, err))
}

// reported writes a failed clean-up into the shop's status.
func (r *reconciler) reported(ctx context.Context, shop *Shop, err error) error {
	if err == nil || passes(err) || r.has(KeepsQuiet) {
		return err
	}
	return errors.Join(err, r.report(ctx, shop, err))
}

// passes reports whether an error only means that the cache was stale, so that a retry will succeed.
func passes(err error) bool {
	return errors.Is(err, errOld) || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// forgive removes the errors that the active bugs ignore.
func (r *reconciler) forgive(err error) error {
	switch {
	case r.has(IgnoresConflicts) && apierrors.IsConflict(err),
		r.has(GivesUpForbidden) && apierrors.IsForbidden(err),
		r.has(GivesUpErrors) && apierrors.IsInternalError(err):
		return nil
	}
	return err
}

func (r *reconciler) open(ctx context.Context, shop *Shop) error {
	if r.has(CleansOnDelete) || r.has(IgnoresTombstones) {
		return r.furnish(ctx, shop)
	}
	if controllerutil.ContainsFinalizer(shop, finalizer) {
		return r.furnish(ctx, shop)
	}
	before := shop.copy()
	controllerutil.AddFinalizer(shop, finalizer)
	if err := r.Patch(ctx, shop, locked(before)); err != nil {
		*shop = *before
		return err
	}
	return r.furnish(ctx, shop)
}

// close removes a deleted Shop from the street, the ConfigMap that lists the open Shops. Then it removes the finalizer.
func (r *reconciler) close(ctx context.Context, shop *Shop) error {
	if !controllerutil.ContainsFinalizer(shop, finalizer) {
		return nil
	}
	if err := r.strike(ctx, shop); err != nil {
		return err
	}
	before := shop.copy()
	controllerutil.RemoveFinalizer(shop, finalizer)
	err := r.Patch(ctx, shop, locked(before))
	if err != nil {
		*shop = *before
	}
	return client.IgnoreNotFound(err)
}

// current returns an error if the cached shop is stale. The controller calls it before every write.
func (r *reconciler) current(ctx context.Context, shop *Shop) error {
	if r.has(TrustsOldViews) {
		return nil
	}
	now := &Shop{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(shop), now)
	if apierrors.IsNotFound(err) || err == nil && (now.UID != shop.UID || now.Generation != shop.Generation) {
		return errOld
	}
	return err
}

// report writes the shop's status if it has changed.
func (r *reconciler) report(ctx context.Context, shop *Shop, failure error) error {
	before := shop.copy()
	ready := metav1.Condition{Type: "Ready", Status: "True", Reason: "Open", Message: "The shop is as declared", ObservedGeneration: shop.Generation}
	if failure != nil {
		ready.Status, ready.Reason, ready.Message = "False", "Failed", fmt.Sprint(failure)
	}
	changed := meta.SetStatusCondition(&shop.Status.Conditions, ready)
	if !changed && shop.Status.ObservedGeneration == shop.Generation {
		return nil
	}
	shop.Status.ObservedGeneration = shop.Generation
	return r.Status().Patch(ctx, shop, locked(before))
}

func locked(before *Shop) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}

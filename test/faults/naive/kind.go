// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package naive is a controller in the style of tutorials, with which package faults tests itself. Without bugs, the
// controller passes all fault tests. It can also run with known bugs, each of which was found in a real operator or is
// taught by a real tutorial. The fault tests must find every bug.
package naive

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/opcrew/opcrew/internal/kit"
)

// Bug is a mistake that the controller makes. The text of a Bug describes the mistake.
type Bug string

// The bugs that the controller can have.
const (
	KeyMeansSign      Bug = "makes the sign only together with the key: check A, then do A and B"
	StatusFirst       Bug = "writes the observed generation first and takes it for the proof that all is done"
	LedgerInMemory    Bug = "remembers only in memory what it put into the street"
	RandomNames       Bug = "makes a key under a random name, and another one at once when that fails"
	Polls             Bug = "makes a key under a random name when its cache shows none, and looks again soon"
	IgnoresConflicts  Bug = "takes a conflict for nothing to worry about"
	OverwritesOthers  Bug = "writes the whole street as its cache has it, without a version"
	GivesUpForbidden  Bug = "gives up when it is forbidden something"
	GivesUpErrors     Bug = "gives up when the server has an error"
	Impatient         Bug = "waits a moment for an answer and then takes the thing for done"
	KeepsQuiet        Bug = "does not report why it was refused"
	ReadyAnyway       Bug = "says Ready whatever has happened"
	CleansOnDelete    Bug = "cleans up when it hears of a deletion, without a finalizer"
	IgnoresTombstones Bug = "cleans up when it hears of a deletion in time, without a finalizer"
	TrustsOldViews    Bug = "writes what its cache says, without asking whether that is still so"
	RemembersNames    Bug = "remembers by name what is done already"
	LeavesItsMark     Bug = "writes into the sign which process it is"
	WritesAtStart     Bug = "writes every sign once when it starts"
	WritesAlways      Bug = "notes in the sign when it looked last"
)

// Kind returns the controller for Shops, with the given bugs.
func Kind(bugs ...Bug) kit.Registration {
	return kit.Registration{
		Name:        "shop",
		CRDs:        []string{"shops.test.opcrew.io"},
		AddToScheme: AddToScheme,
		Cache: func() map[client.Object]cache.ByObject {
			return map[client.Object]cache.ByObject{&Shop{}: {}, &corev1.Secret{}: {}, &corev1.ConfigMap{}: {}}
		},
		Setup: func(mgr ctrl.Manager, _ *kit.Tools) error { return setup(mgr, bugs) },
	}
}

func setup(mgr ctrl.Manager, bugs []Bug) error {
	r := newReconciler(mgr.GetClient(), mgr.GetAPIReader(), bugs)
	quiet := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	signs := []builder.OwnsOption{quiet}
	if r.has(LeavesItsMark) {
		signs = nil
	}
	b := ctrl.NewControllerManagedBy(mgr).Named("shop").
		For(&Shop{}, quiet).
		Owns(&corev1.Secret{}, quiet).
		Owns(&corev1.ConfigMap{}, signs...)
	if r.has(CleansOnDelete) || r.has(IgnoresTombstones) {
		b = b.Watches(&Shop{}, handler.Funcs{DeleteFunc: r.deleted})
	}
	return b.Complete(r)
}

// deleted is the event handler for deleted Shops. With the bugs that use no finalizer, it removes the Shop from the
// street, the ConfigMap that lists the open Shops.
func (r *reconciler) deleted(ctx context.Context, e event.DeleteEvent, _ queue) {
	if r.has(IgnoresTombstones) && e.DeleteStateUnknown {
		return
	}
	for range 5 {
		err := r.strike(ctx, e.Object.(*Shop))
		if err == nil {
			return
		}
		log.FromContext(ctx).Error(err, "Failed to clean up")
	}
}

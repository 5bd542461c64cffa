// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// ErrNotWatched tells that a cluster is not looked at (yet, or any more).
var ErrNotWatched = errors.New("the cluster is not watched")

// Prober looks at clusters.
type Prober struct{}

// NewProber makes one. A nil interval is DefaultInterval.
func NewProber(dial Dialer, clock clock.WithTicker, interval func(View) time.Duration) *Prober {
	return &Prober{}
}

func (p *Prober) Watch(key types.NamespacedName, target Target) {}

func (p *Prober) Forget(key types.NamespacedName) {}

func (p *Prober) View(key types.NamespacedName) (View, bool) { return View{}, false }

func (p *Prober) Poke(key types.NamespacedName) {}

func (p *Prober) Do(ctx context.Context, key types.NamespacedName, step func(context.Context, Store) error) error {
	return ErrNotWatched
}

func (p *Prober) Events() <-chan event.GenericEvent { return nil }

func (p *Prober) NeedLeaderElection() bool { return true }

func (p *Prober) Start(ctx context.Context) error { return nil }

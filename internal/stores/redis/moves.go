// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "context"

// beginMove begins a move in the background. It lasts until it is done or stopped, the cluster is forgotten, or the
// prober ends.
func (l *looker) beginMove(step MoveSlots) error {
	ctx, cancel := context.WithCancel(context.Background())
	claim := func() error {
		if !l.moves.Begin(step, l.Clock().Now(), cancel) {
			cancel()
			return ErrMoving
		}
		return nil
	}
	err := l.Background(claim, func(lasting context.Context) {
		defer context.AfterFunc(lasting, cancel)()
		l.moves.Run(ctx, step, l.Use, l.Clock())
		l.Wake()
	})
	if err == nil {
		l.Outdate()
	}
	return err
}

// End stops a move between two batches, or once the open slots are completed.
func (l *looker) End() {
	l.moves.Stop()
	l.Outdate()
}

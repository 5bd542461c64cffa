// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import "context"

// beginMove starts a slot move in the background. The move runs until it is done or stopped, the cluster is forgotten,
// or the prober ends.
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

// End makes the slot move stop soon. The move first completes the slots that it is moving at that moment.
func (l *looker) End() {
	l.moves.Stop()
	l.Outdate()
}

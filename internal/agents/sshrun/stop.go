// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"context"
	"time"
)

// stop ends the processes of the command: SIGTERM, and SIGKILL after the grace period. It returns the last report.
func (r *runner) stop(l *link, reports <-chan report) report {
	grace := r.clock.After(time.Duration(r.order.GraceSeconds) * time.Second)
	r.signal(l, "TERM")
	if end, ok := r.ends(l, &reports, grace); ok {
		return end
	}
	r.signal(l, "KILL")
	if end, ok := r.ends(l, &reports, r.clock.After(r.confirm)); ok {
		return end
	}
	return broken("the host did not confirm that the command ended")
}

// ends waits for the end of the command. It returns false if the time is over. If the connection is lost, it asks over
// other connections.
func (r *runner) ends(l *link, reports *<-chan report, over <-chan time.Time) (report, bool) {
	for {
		select {
		case got, ok := <-*reports:
			if !ok {
				*reports = r.poll(context.Background(), lossOf(l))
				continue
			}
			if got.word != wordStarted && got.word != wordHello {
				return got, true
			}
		case <-over:
			return report{}, false
		}
	}
}

// signal sends a signal to the processes of the command, through the connection of the command if it still exists, and
// otherwise through another one.
func (r *runner) signal(l *link, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), r.limits.signal)
	defer cancel()
	if l != nil && l.cause() == nil && r.ask(ctx, l, r.script.End(name)).word != wordBroken {
		return
	}
	other, _, err := r.dial(ctx)
	if err != nil {
		return // stop reports that the command did not end
	}
	defer other.close()
	r.ask(ctx, other, r.script.End(name))
}

// ask executes a script, and returns its answer.
func (r *runner) ask(ctx context.Context, l *link, text string) report {
	x, err := l.start(text)
	if err != nil {
		return broken(err.Error())
	}
	defer func() { _ = x.session.Close() }() // the host may have closed it
	for {
		select {
		case got, ok := <-x.reports:
			switch {
			case !ok:
				return broken("the host did not answer")
			case got.word != wordHello:
				return got
			}
		case <-ctx.Done():
			return broken("the host did not answer in time")
		}
	}
}

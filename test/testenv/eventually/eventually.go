// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package eventually waits for an expected state. It polls with growing pauses, so that a test takes only as long as
// the cluster needs. If the state is not reached in time, the failure message contains the expectation and the last
// error.
package eventually

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// Long is the time limit for something that usually takes a moment, but may take longer on a busy machine.
const Long = 2 * time.Minute

const (
	firstPause   = 5 * time.Millisecond
	longestPause = 250 * time.Millisecond
)

// True fails the test unless check returns nil within timeout. The expectation describes the state as a user would,
// such as "the deployment is available".
func True(t testing.TB, timeout time.Duration, expectation string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	tries, last := 0, error(nil)
	err := poll(ctx, func() bool {
		tries++
		last = check()
		return last == nil
	})
	if err != nil {
		t.Fatalf("expected within %s: %s\nafter %d tries: %v", timeout, expectation, tries, last)
	}
}

// Stays fails the test as soon as check returns an error. It calls check repeatedly for the time d.
func Stays(t testing.TB, d time.Duration, expectation string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	begin, broken := time.Now(), error(nil)
	err := poll(ctx, func() bool {
		broken = check()
		return broken != nil
	})
	if err == nil {
		t.Fatalf("expected for %s: %s\nbroken after %s: %v", d, expectation, time.Since(begin).Round(time.Millisecond), broken)
	}
	if t.Context().Err() != nil {
		t.Fatalf("expected for %s: %s\ninterrupted after %s", d, expectation, time.Since(begin).Round(time.Millisecond))
	}
}

// poll calls done until it returns true or ctx ends. The pauses grow, so that poll notices a quick result early and
// does not load a slow server. After the deadline it calls done once more, so that the result is never outdated.
func poll(ctx context.Context, done func() bool) error {
	for pause := firstPause; ; pause = min(pause*3/2, longestPause) {
		if done() {
			return nil
		}
		select {
		case <-ctx.Done():
			if done() {
				return nil
			}
			return fmt.Errorf("gave up: %w", context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// Gone returns nil if err, the error of a Get, shows that the object does not exist. notFound decides this; pass a
// function such as apierrors.IsNotFound.
func Gone(err error, notFound func(error) bool) error {
	switch {
	case err == nil:
		return errors.New("the object still exists")
	case notFound(err):
		return nil
	default:
		return err
	}
}

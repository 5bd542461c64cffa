// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"testing"

	"github.com/opcrew/opcrew/internal/redis"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func TestAServerThatRefusesThePasswordIsNotTakenToHaveAnswered(t *testing.T) {
	s := &server{place: redis.Home, dir: t.TempDir()}
	s.start(t, newHost())
	ask := func(password string) error {
		store, err := redis.Dial(redis.Target{Credentials: redis.Credentials{User: "opcrew", Password: password}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		_, err = store.Status(t.Context(), s.address)
		_, again := store.Do(t.Context(), s.address, redis.Command{"CLUSTER", "COUNTKEYSINSLOT", 1})
		if (err == nil) != (again == nil) || redis.Barred(err) != redis.Barred(again) {
			t.Errorf("expected a question and a step to end alike, got %v and %v", err, again)
		}
		return err
	}
	eventually.True(t, soon, "the server answers", func() error { return ask(secret) })
	if err := ask("another"); !redis.Barred(err) {
		t.Errorf("expected to be told that it does not let us in, got %v", err)
	}
}

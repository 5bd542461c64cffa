// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"errors"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

func TestAServerThatRefusesThePasswordIsNotTakenToHaveAnswered(t *testing.T) {
	s := &server{place: redis.Home, dir: t.TempDir()}
	s.start(t, loopback.Host())
	ask := func(password string) (question, step error) {
		store, err := redis.Dial(redis.Target{Credentials: redis.Credentials{User: "opcrew", Password: password}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		_, question = store.Status(t.Context(), s.address)
		_, step = store.Do(t.Context(), s.address, redis.Command{"CLUSTER", "COUNTKEYSINSLOT", 1})
		return question, step
	}
	eventually.True(t, soon, "the server answers", func() error {
		question, step := ask(secret)
		return errors.Join(question, step)
	})
	question, step := ask("another")
	if !redis.AccessDenied(question) || !redis.AccessDenied(step) {
		t.Errorf("expected a question and a step to fail as it does not let us in, got %v and %v", question, step)
	}
}

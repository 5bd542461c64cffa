// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"context"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

func TestSlotsThatACrashLeftOpenAreMovedAndKeepTheirKeys(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	keys := []string{"{mid}1", "{mid}2", "{over}1"}
	for _, key := range keys {
		if err := o.client().Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	o.crash()
	// Both slots belong to the first of three shards.
	from, to := o.pods[0].home, o.pods[1].home
	half, done := o.slot(from, "{mid}"), o.slot(from, "{over}")
	o.open(half, from, to)
	o.command(from, o.migrate(to, "{mid}1"))
	o.open(done, from, to)
	o.command(from, o.migrate(to, "{over}1"))
	o.command(to, redis.Command{"CLUSTER", "SETSLOT", done, "NODE", o.id(to)})
	o.run()
	o.settled(later)
	for _, key := range keys {
		if got, err := o.client().Get(t.Context(), key).Result(); got != key {
			t.Errorf("expected to find %s, got %q (%v)", key, got, err)
		}
	}
}

// command sends commands to a server, and returns the reply to the first one.
func (o *operator) command(to *server, commands ...redis.Command) any {
	o.t.Helper()
	answer, err := o.tried(to, commands...)
	if err != nil {
		o.t.Fatal(err)
	}
	return answer
}

// tried returns the answer to the first command.
func (o *operator) tried(to *server, commands ...redis.Command) (any, error) {
	store, err := redis.Dial(redis.Target{Credentials: redis.Credentials{User: "opcrew", Password: secret}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = store.Close() }()
	answers, err := store.Do(context.Background(), to.address, commands...)
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

func (o *operator) id(of *server) any { return o.command(of, redis.Command{"CLUSTER", "MYID"}) }

func (o *operator) slot(at *server, key string) any {
	return o.command(at, redis.Command{"CLUSTER", "KEYSLOT", key})
}

func (o *operator) open(slot any, from, to *server) {
	o.command(to, redis.Command{"CLUSTER", "SETSLOT", slot, "IMPORTING", o.id(from)})
	o.command(from, redis.Command{"CLUSTER", "SETSLOT", slot, "MIGRATING", o.id(to)})
}

func (o *operator) migrate(to *server, key string) redis.Command {
	return redis.Command{"MIGRATE", o.host(to.pod), "6379", key, 0, 1000, "AUTH2", "opcrew", secret}
}

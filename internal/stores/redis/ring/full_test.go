// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/loopback"
)

// A server without room for another client closes new connections. It must be reported as full, and not as broken.
func TestAServerWithNoRoomForTheOperatorIsReportedAsFull(t *testing.T) {
	full := &server{place: redis.Home, dir: t.TempDir()}
	full.start(t, loopback.Host())
	ask := func() error {
		store, err := redis.Dial(redis.Target{Credentials: redis.Credentials{User: "opcrew", Password: secret}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }() // the server may have closed the connection already
		_, err = store.Do(t.Context(), full.address, redis.Command{"CONFIG", "SET", "maxclients", "1"})
		return err
	}
	eventually.True(t, soon, "the server answers", ask)
	client, err := net.Dial("tcp", full.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }() // the server may have closed the connection already
	eventually.True(t, soon, "the server is full", func() error {
		if ask() == nil {
			return errors.New("it has room for another client")
		}
		return nil
	})
	for range 10 {
		if err := ask(); err == nil || !strings.Contains(err.Error(), "max number of clients reached") {
			t.Fatalf("expected the error each time that it is full, got %v", err)
		}
	}
}

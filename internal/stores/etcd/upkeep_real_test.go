// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// client returns an etcd client like the one of a user.
func client(t *testing.T, s *server) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.client}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func status(t *testing.T, store etcd.Store, s *server) etcd.MemberStatus {
	t.Helper()
	var out etcd.MemberStatus
	within(t, "status of "+s.name, whatever, func(ctx context.Context) (err error) {
		out, err = store.Status(ctx, s.client)
		return err
	})
	return out
}

func TestARealMemberThatIsFullIsWrittenToAgainAfterCompactionDefragmentationAndDisarming(t *testing.T) {
	const quota = 16 * mebi
	s := newServer(t, "a")
	s.flags = []string{fmt.Sprint("--quota-backend-bytes=", quota)}
	s.start(t, "new", s)
	store, user := dialAll(t, s), client(t, s)
	put := func() error {
		_, err := user.Put(t.Context(), "key", string(bytes.Repeat([]byte("x"), mebi)))
		return err
	}
	members(t, store, 1, 1)
	var refused error
	for n := 0; refused == nil && n < 40; n++ {
		refused = put()
	}
	full := status(t, store, s)
	alarm := etcd.Alarm{Member: full.ID, Kind: etcd.AlarmNoSpace}
	if refused == nil || !slices.Contains(full.Alarms(), alarm) || full.Quota != quota {
		t.Fatalf("expected the alarm after %v, got %+v", refused, full)
	}
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	do("compact", store.Compact(t.Context(), full.Revision))
	if err := store.Compact(t.Context(), full.Revision); !errors.Is(err, etcd.ErrCompacted) {
		t.Errorf("expected history to be thrown away once, got %v", err)
	}
	if got := status(t, store, s); got.Free() < quota/2 || got.DBSize < quota*9/10 {
		t.Errorf("expected most of its data to be free, and as large as before, got %+v", got)
	}
	do("defragment", store.Defragment(t.Context(), s.client))
	if got := status(t, store, s); got.DBSize > quota/2 || got.Free() > quota/8 {
		t.Errorf("expected it to have given back what was free, got %+v", got)
	}
	if put() == nil {
		t.Error("expected writes to be refused as long as the alarm is raised")
	}
	do("disarm", store.Disarm(t.Context(), alarm))
	do("write", put())
	if got := status(t, store, s); len(got.Alarms()) > 0 {
		t.Errorf("expected no alarm, got %v", got.Alarms())
	}
}

// spoil changes one value in the data of a member that is not running.
func spoil(t *testing.T, s *server) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(s.dir, "member", "snap", "db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // an error does not matter: the change is on disk
	err = db.Update(func(tx *bolt.Tx) error {
		keys := tx.Bucket([]byte("key"))
		at, data := keys.Cursor().Last()
		changed := bytes.Replace(data, []byte("value"), []byte("spoil"), 1)
		return keys.Put(bytes.Clone(at), changed)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// etcd raises the alarm CORRUPT for a follower even if the leader's data is corrupt. So opcrew compares the data of all
// members before it removes a member.
func TestRealEtcdAccusesAFollowerWhenTheDataOfTheLeaderIsCorruptAndHashesShowWhose(t *testing.T) {
	servers := []*server{newServer(t, "a"), newServer(t, "b"), newServer(t, "c")}
	bad := servers[0]
	bad.flags = []string{"--corrupt-check-time=1s"} // the check for corruption runs on the leader
	for _, s := range servers {
		s.start(t, "new", servers...)
	}
	store := dialAll(t, servers...)
	members(t, store, 3, 3)
	if _, err := client(t, servers[1]).Put(t.Context(), "key", "value"); err != nil {
		t.Fatal(err)
	}
	id := status(t, store, bad).ID
	within(t, "a has the key", whatever, func(ctx context.Context) error {
		if sum, err := store.Hash(ctx, bad.client); err != nil || sum.Revision < 2 {
			return fmt.Errorf("it has %s (%w)", sum, err)
		}
		return nil
	})
	bad.end(t)
	spoil(t, bad)
	bad.start(t, "new", servers...)
	var alarms []etcd.Alarm
	within(t, "an alarm", whatever, func(ctx context.Context) error {
		if err := lead(ctx, store, servers, bad); err != nil {
			return err
		}
		answer, err := store.Status(ctx, bad.client)
		if alarms = answer.Alarms(); err == nil && len(alarms) == 0 {
			err = errors.New("there is none")
		}
		return err
	})
	if alarms[0].Kind != etcd.AlarmCorrupt || alarms[0].Member == id {
		t.Errorf("expected etcd to accuse another one than %x, got %v", id, alarms)
	}
	wantOdd(t, store, servers)
}

// lead makes a server the leader.
func lead(ctx context.Context, store etcd.Store, servers []*server, who *server) error {
	to, err := store.Status(ctx, who.client)
	if err != nil || to.Leader == to.ID {
		return err
	}
	for _, s := range servers {
		if from, err := store.Status(ctx, s.client); err == nil && from.Leader == from.ID {
			return store.MoveLeader(ctx, s.client, to.ID)
		}
	}
	return errors.New("no member leads")
}

// wantOdd expects the data of the first server to differ from the data of the two others.
func wantOdd(t *testing.T, store etcd.Store, servers []*server) {
	t.Helper()
	have := map[etcd.Hash][]string{}
	for _, s := range servers {
		sum, err := store.Hash(t.Context(), s.client)
		if err != nil {
			t.Fatal(err)
		}
		have[sum] = append(have[sum], s.name)
	}
	for sum, names := range have {
		if want := []string{"b", "c"}; len(have) != 2 || slices.Contains(names, "b") && !slices.Equal(names, want) {
			t.Errorf("expected b and c to be the same, and a not, got %v of %q", sum, names)
		}
	}
}

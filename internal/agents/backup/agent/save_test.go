// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/backup/store"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func recordOf(content []byte) backup.Meta {
	sum := sha256.Sum256(content)
	return backup.Meta{Order: "order-0", SavedAt: noon, Revision: 7, EtcdVersion: "3.6.16", Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

func TestTheMemberWithTheNewestRevisionIsSaved(t *testing.T) {
	behind, ahead, gone := newMember(t, 9), newMember(t, 10), &member{endpoint: "http://127.0.0.1:1"}
	b := newBench(t, gone, behind, ahead)
	r := b.runs(b.saving(1), backup.Succeeded, "")
	key := named(10, 1)
	b.has(key + "+")
	if !bytes.Equal(b.content(key), stream(ahead.database)) {
		t.Error("expected the snapshot of the member with the newest revision")
	}
	keys := int64(5)
	want := recordOf(stream(ahead.database))
	want.Format, want.Order, want.Time, want.SavedAt, want.Revision = 1, "order-1", day(1), today, 10
	want.ClusterID, want.Member, want.Keys, want.Hash = "000000000000000c", ahead.endpoint, &keys, &backup.Hash{Value: 77, CompactRevision: 3}
	if got := b.record(key); !reflect.DeepEqual(got, want) {
		t.Errorf("expected %+v, got %+v", want, got)
	}
	if r.Object != key || r.Revision != 10 || r.Size != want.Size || r.EtcdVersion != "3.6.16" || r.Again {
		t.Errorf("got %+v", r)
	}
}

func TestAnotherMemberIsReadIfOneDoesNotGiveItsSnapshot(t *testing.T) {
	for name, f := range map[string]fault{"breaks off": breaks, "has a wrong hash": lies, "ends early": ends, "refuses": refuses} {
		t.Run(name, func(t *testing.T) {
			first, second := newMember(t, 10), newMember(t, 9)
			first.fault = f
			b := newBench(t, first, second)
			b.runs(b.saving(0), backup.Succeeded, "")
			b.has("dir/shop+")
			if !bytes.Equal(b.content("dir/shop"), stream(second.database)) || first.reads != 1 {
				t.Error("expected the snapshot of the other member")
			}
		})
	}
}

func TestASaveThatFailsReportsWhyAndLeavesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		change func(a, b *member)
		reason backup.Reason
		words  []string
	}{
		"both break off":  {func(a, b *member) { a.fault, b.fault = breaks, breaks }, backup.ReasonEtcdRefused, []string{"was interrupted: transport is closing"}},
		"both refuse":     {func(a, b *member) { a.fault, b.fault = refuses, refuses }, backup.ReasonEtcdRefused, []string{"permission denied"}},
		"both lie":        {func(a, b *member) { a.fault, b.fault = lies, lies }, backup.ReasonSnapshotBroken, []string{"does not match its data"}},
		"of two clusters": {func(a, _ *member) { a.cluster = 0xd }, backup.ReasonEtcdRefused, []string{"belong to different clusters"}},
		"both are corrupt": {func(a, b *member) {
			a.alarms, b.alarms = []string{"memberID:1 alarm:CORRUPT "}, a.alarms
			b.alarms = a.alarms
		}, backup.ReasonEtcdUnreachable, []string{"corrupt"}},
		"both are not there": {func(a, b *member) { a.endpoint, b.endpoint = "http://127.0.0.1:1", "http://127.0.0.1:2" }, backup.ReasonEtcdUnreachable, []string{
			"http://127.0.0.1:1: ", "http://127.0.0.1:2: ", "connection refused",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newMember(t, 10), newMember(t, 10)
			test.change(first, second)
			b := newBench(t, first, second)
			r := b.runs(b.saving(1), backup.Failed, test.reason, test.words...)
			if strings.Contains(r.Message, "\n") || r.Object != "" {
				t.Errorf("got %+v", r)
			}
			b.has()
		})
	}
}

func TestASaveEndsInTimeAndLeavesNothing(t *testing.T) {
	m := newMember(t, 10)
	m.fault = stalls
	b := newBench(t, m)
	o := b.saving(1)
	o.TimeoutSeconds = 1
	begun := time.Now()
	b.runs(o, backup.Failed, backup.ReasonTimeout, "not completed within 1 seconds")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	b.runsIn(ctx, b.saving(1), backup.Stopped, backup.ReasonStopped, "the pod was stopped")
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the save took %s", took)
	}
	b.has()
}

func TestARepeatedOrderMakesOneBackup(t *testing.T) {
	for _, n := range []int{0, 1} {
		m := newMember(t, 10)
		b := newBench(t, m)
		first := b.runs(b.saving(n), backup.Succeeded, "")
		m.revision = 11
		again := b.runs(b.saving(n), backup.Succeeded, "")
		if first.Again = true; !same(first, again) || m.reads != 1 {
			t.Errorf("expected %+v, got %+v", first, again)
		}
		other := b.saving(n)
		other.ID = "order-2"
		if r := b.runs(other, backup.Succeeded, ""); r.Again || r.Revision != 11 {
			t.Errorf("expected another order to be carried out, got %+v", r)
		}
	}
}

func TestABackupWithoutItsRecordIsMadeAgain(t *testing.T) {
	m := newMember(t, 10)
	b := newBench(t, m)
	b.Open = failing(records)
	b.runs(b.saving(1), backup.Failed, backup.ReasonStoreFailed, "write the record")
	b.has(named(10, 1))
	m.revision = 11
	b.Open = store.Open
	b.runs(b.saving(1), backup.Succeeded, "")
	b.has(named(10, 1), named(11, 1)+"+")
}

func TestAnObjectNeverHasTheRecordOfItsPredecessor(t *testing.T) {
	m := newMember(t, 10)
	b := newBench(t, m)
	b.object("dir/shop", 5)
	b.Open = failing(records)
	b.runs(b.saving(0), backup.Failed, backup.ReasonStoreFailed)
	b.has("dir/shop")
	b.object("dir/shop", 5)
	m.fault = breaks
	b.Open = store.Open
	b.runs(b.saving(0), backup.Failed, backup.ReasonEtcdRefused)
	b.has("dir/shop+") // the previous backup is unchanged
}

func records(key string) bool {
	return strings.HasSuffix(key, ".meta.json") && !strings.HasPrefix(key, "delete ")
}

// failing returns a function that opens stores. They refuse to read or write objects whose keys match.
func failing(match func(string) bool) func(context.Context, backup.Target) (store.Store, string, error) {
	return func(ctx context.Context, t backup.Target) (store.Store, string, error) {
		s, key, err := store.Open(ctx, t)
		return broken{s, match}, key, err
	}
}

type broken struct {
	store.Store
	match func(string) bool
}

func (b broken) Put(ctx context.Context, key string, content io.Reader) error {
	if b.match(key) {
		return backup.Fail(backup.ReasonStoreFailed, "it does not take %s", key)
	}
	return b.Store.Put(ctx, key, content)
}

func (b broken) Delete(ctx context.Context, key string) error {
	if b.match("delete " + key) {
		return errors.New("it does not delete " + key)
	}
	return b.Store.Delete(ctx, key)
}

// A member that is cut off from its cluster may have data that is hours old. A periodic backup of this data would count
// as new.
func TestAMemberThatIsCutOffIsSavedOnlyInASingleBackupWithAWarning(t *testing.T) {
	m := newMember(t, 10)
	m.cutOff = true
	b := newBench(t, m)
	b.runs(b.saving(1), backup.Failed, backup.ReasonNoLeader, "the member has no leader, so its data may be outdated")
	b.has()
	b.runs(b.saving(0), backup.Succeeded, backup.ReasonNoLeader, m.endpoint+" had no leader when its snapshot was read")
	b.has("dir/shop+")
}

func TestAMemberWithoutFactsIsSaved(t *testing.T) {
	m := newMember(t, 10)
	m.facts = false
	b := newBench(t, m)
	b.runs(b.saving(0), backup.Succeeded, "")
	if got := b.record("dir/shop"); got.Keys != nil || got.Hash != nil {
		t.Errorf("got %+v", got)
	}
}

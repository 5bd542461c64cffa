// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/agents/backup/datadir"
	"github.com/opcrew/opcrew/internal/agents/backup/store"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// TestMain runs the tests. With the argument datadir.Subcommand, it instead acts as the separate process that reads
// snapshots, because the agent starts its own program, here the test binary, as this process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == datadir.Subcommand {
		if err := datadir.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var (
	noon = time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC)
	// today is the current time in the tests. All backups in the tests are older.
	today = day(100)
)

// bench is an agent with a backup folder and simulated data directories.
type bench struct {
	*testing.T
	*Agent
	dir     string
	members []*member
	jobs    []datadir.Job
	fault   error // error that the creation of a data directory returns
}

func newBench(t *testing.T, members ...*member) *bench {
	b := &bench{T: t, dir: t.TempDir(), members: members}
	b.Agent = &Agent{Clock: testclock.NewFakePassiveClock(today), Log: slog.New(slog.DiscardHandler), Open: store.Open}
	b.DataDir = func(_ context.Context, j datadir.Job) (datadir.Done, error) {
		b.jobs = append(b.jobs, j)
		if b.fault != nil {
			return datadir.Done{}, b.fault
		}
		must(t, os.MkdirAll(filepath.Join(j.Dir, "member", "snap"), 0o700))
		text, err := os.ReadFile(j.Snapshot)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(j.Dir, "member", "snap", "db"), text[:len(text)-32], 0o600))
		return datadir.Done{Revision: 1007, Verification: &backup.Verification{Revision: 7, HashCompared: true}}, nil
	}
	return b
}

func (b *bench) order() backup.Order {
	return backup.Order{ID: "order-1", Target: backup.Target{Type: backup.Folder, Path: "dir/shop", Dir: b.dir}}
}

// saving returns an order to save the periodic backup of day n. Day 0 means a single backup.
func (b *bench) saving(n int) backup.Order {
	o := b.order()
	o.Save = &backup.Save{}
	for _, m := range b.members {
		o.Save.Endpoints = append(o.Save.Endpoints, m.endpoint)
	}
	if n > 0 {
		o.Save.Time = day(n)
	}
	return o
}

func day(n int) time.Time { return noon.AddDate(0, 0, n) }

func named(revision int64, n int) string { return backup.ObjectName("dir/shop", revision, day(n)) }

// runs executes an order, and expects an outcome, a reason, and some words in the message.
func (b *bench) runs(o backup.Order, outcome backup.Outcome, reason backup.Reason, words ...string) backup.Result {
	b.Helper()
	return b.runsIn(b.Context(), o, outcome, reason, words...)
}

func (b *bench) runsIn(ctx context.Context, o backup.Order, outcome backup.Outcome, reason backup.Reason, words ...string) backup.Result {
	b.Helper()
	r := b.Agent.Run(ctx, o)
	if r.Outcome != outcome || r.Reason != reason {
		b.Fatalf("expected %s %s, got %+v", outcome, reason, r)
	}
	for _, word := range words {
		if !strings.Contains(r.Message, word) {
			b.Errorf("expected %q in %q", word, r.Message)
		}
	}
	return r
}

// has expects that exactly these objects exist. A name that ends with + is an object with a record.
func (b *bench) has(want ...string) {
	b.Helper()
	var got []string
	must(b.T, filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(b.dir, path); err == nil && !entry.IsDir() {
			got = append(got, name)
		}
		return err
	}))
	var all []string
	for _, name := range want {
		object, recorded := strings.CutSuffix(name, "+")
		all = append(all, object)
		if recorded {
			all = append(all, backup.MetaName(object))
		}
	}
	slices.Sort(all)
	slices.Sort(got)
	if !slices.Equal(got, all) {
		b.Errorf("expected %q, got %q", all, got)
	}
}

// put writes an object, and its record if that is not nil.
func (b *bench) put(key string, content []byte, m *backup.Meta) {
	b.Helper()
	path := filepath.Join(b.dir, key)
	must(b.T, os.MkdirAll(filepath.Dir(path), 0o700))
	must(b.T, os.WriteFile(path, content, 0o600))
	if m != nil {
		text, err := m.Encode()
		must(b.T, err)
		must(b.T, os.WriteFile(backup.MetaName(path), text, 0o600))
	}
}

// object writes a complete backup of the test cluster.
func (b *bench) object(key string, revision int64) {
	b.Helper()
	b.objectOf("000000000000000c", key, revision)
}

func (b *bench) objectOf(cluster, key string, revision int64) {
	b.Helper()
	content := stream(database(int(revision), 10))
	m := recordOf(content)
	m.Revision, m.ClusterID = revision, cluster
	if name, ok := backup.ParseName("dir/shop", key); ok {
		m.SavedAt = name.Time
	}
	b.put(key, content, &m)
}

func (b *bench) content(key string) []byte {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, key))
	must(b.T, err)
	return text
}

func (b *bench) record(key string) backup.Meta {
	b.Helper()
	m, err := backup.ParseMeta(b.content(backup.MetaName(key)))
	must(b.T, err)
	return m
}

// same reports whether two results are equal except for their times.
func same(a, b backup.Result) bool {
	a.StartedAt, a.EndedAt, b.StartedAt, b.EndedAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	return bytes.Equal(left, right)
}

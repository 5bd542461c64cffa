// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/backup/store"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// catalog accesses the objects of one path in a store. Its keys do not include the bucket.
type catalog struct {
	store.Store
	key    string // key of the path, without the bucket
	bucket string // bucket, as a prefix of paths in messages
}

func (a *Agent) catalog(ctx context.Context, t backup.Target) (*catalog, error) {
	opened, key, err := a.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &catalog{opened, key, strings.TrimSuffix(t.Path, key)}, nil
}

// item is one backup: an object in the store under the path of the catalog.
type item struct {
	key  string
	size int64
	name backup.Name // parsed name of a periodic backup; zero for a single backup
	// recorded is true if the item has a record, a small JSON object with its size and hash. The record may belong to
	// an earlier object with the same key.
	recorded bool
}

// stored returns an item and its record as the type that package backup uses to decide what to prune. The record may be
// nil.
func (i item) stored(m *backup.Meta) backup.Stored {
	out := backup.Stored{Object: i.key, Name: i.name}
	if m != nil {
		out.SavedAt, out.Complete, out.Cluster = m.SavedAt, m.Trusted(i.size), m.ClusterID
	}
	return out
}

// items lists the periodic backups of the path, newest first. exact is the object at the path itself; nil if there is
// none.
func (s *catalog) items(ctx context.Context, prefix string) (periodic []item, exact *item, err error) {
	objects, err := s.List(ctx, prefix)
	if err != nil {
		return nil, nil, err
	}
	there := map[string]bool{}
	for _, o := range objects {
		there[o.Key] = true
	}
	for _, o := range objects {
		found := item{key: o.Key, size: o.Size, recorded: there[backup.MetaName(o.Key)]}
		name, ok := backup.ParseName(s.key, o.Key)
		switch {
		case ok:
			found.name = name
			periodic = append(periodic, found)
		case o.Key == s.key:
			exact = &found
		}
	}
	slices.SortFunc(periodic, func(a, b item) int { return a.name.Newer(b.name) })
	return periodic, exact, nil
}

// meta returns the record of an item (a stored backup); nil if there is none, or if it is damaged.
func (s *catalog) meta(ctx context.Context, i item) (*backup.Meta, error) {
	if !i.recorded {
		return nil, nil
	}
	r, _, err := s.Get(ctx, backup.MetaName(i.key))
	if backup.ReasonOf(err, "") == backup.ReasonObjectMissing {
		return nil, nil // the record was deleted after it was listed
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, backup.MaxMeta))
	if err != nil {
		return nil, err
	}
	m, err := backup.ParseMeta(text)
	if err != nil {
		return nil, nil // a damaged record of a backup counts as missing
	}
	return &m, nil
}

// trusted returns the record of an item (a stored backup) if the backup is complete; otherwise nil.
func (s *catalog) trusted(ctx context.Context, i item) (*backup.Meta, error) {
	m, err := s.meta(ctx, i)
	if err != nil || m == nil || !m.Trusted(i.size) {
		return nil, err
	}
	return m, nil
}

// putMeta writes the record of an object (a small JSON object next to it), which makes the object a complete backup.
func (s *catalog) putMeta(ctx context.Context, key string, m backup.Meta) error {
	text, err := m.Encode()
	if err != nil {
		return err
	}
	if err := s.Put(ctx, backup.MetaName(key), bytes.NewReader(text)); err != nil {
		return fmt.Errorf("write the record of %q: %w", s.bucket+key, err)
	}
	return nil
}

// forget removes the record of a key if it exists. It lists objects first, so that saving a new backup needs no
// permission to delete.
func (s *catalog) forget(ctx context.Context, key string) error {
	there, err := s.List(ctx, backup.MetaName(key))
	if err != nil || len(there) == 0 {
		return err
	}
	return s.Delete(ctx, backup.MetaName(key))
}

// pick returns the backup to read, with its record if there is one. It picks the given object. If object is "", it
// picks the newest complete backup, or, if no backup is complete, the object at the path itself: another program may
// have written that object without a record.
func (s *catalog) pick(ctx context.Context, object string, now time.Time) (item, *backup.Meta, error) {
	prefix := s.key
	if object != "" {
		prefix = strings.TrimPrefix(object, s.bucket)
	}
	periodic, exact, err := s.items(ctx, prefix)
	if err != nil {
		return item{}, nil, err
	}
	if object != "" {
		exact, periodic = ofKey(prefix, exact, periodic), nil
	}
	if i, m, err := s.newest(ctx, exact, periodic, now); err != nil || m != nil {
		return i, m, err
	}
	if exact != nil {
		m, err := s.meta(ctx, *exact)
		return *exact, m, err
	}
	if len(periodic) > 0 {
		return item{}, nil, backup.Fail(backup.ReasonObjectMissing, "none of the %d backups of %q is complete; the newest is %q; to use it nevertheless, name it in the spec",
			len(periodic), s.bucket+s.key, s.bucket+periodic[0].key)
	}
	return item{}, nil, backup.Fail(backup.ReasonObjectMissing, "there is no backup %q", s.bucket+prefix)
}

// newest returns the complete backup that was saved last, with its record; nil if no backup is complete.
func (s *catalog) newest(ctx context.Context, exact *item, periodic []item, now time.Time) (item, *backup.Meta, error) {
	if exact != nil {
		periodic = append(periodic, *exact)
	}
	var newest item
	var record *backup.Meta
	for _, i := range periodic {
		m, err := s.trusted(ctx, i)
		if err != nil {
			return item{}, nil, err
		}
		if m != nil && (record == nil || i.stored(m).Newer(newest.stored(record), now) < 0) {
			newest, record = i, m
		}
	}
	return newest, record, nil
}

// ofKey returns the item (a stored backup) with a key; nil if there is none.
func ofKey(key string, exact *item, periodic []item) *item {
	if exact != nil && exact.key == key {
		return exact
	}
	i := slices.IndexFunc(periodic, func(i item) bool { return i.key == key })
	if i < 0 {
		return nil
	}
	return &periodic[i]
}

// describe returns a result with the properties of an item (a stored backup).
func (s *catalog) describe(i item, m *backup.Meta) backup.Result {
	r := backup.Result{Outcome: backup.Succeeded, Object: s.bucket + i.key, Size: i.size, Revision: i.name.Revision, SavedAt: i.name.Time}
	if m != nil {
		r.Revision, r.EtcdVersion, r.ClusterID, r.SavedAt = m.Revision, m.EtcdVersion, m.ClusterID, m.SavedAt
	}
	return r
}

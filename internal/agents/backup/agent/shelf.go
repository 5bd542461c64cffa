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

// shelf are the objects of one path. Keys are those of the store, without the bucket.
type shelf struct {
	store.Store
	key    string // of the path
	bucket string // what stands before a key in a path
}

func (a *Agent) shelf(ctx context.Context, t backup.Target) (*shelf, error) {
	opened, key, err := a.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return &shelf{opened, key, strings.TrimSuffix(t.Path, key)}, nil
}

// item is an object of the path.
type item struct {
	key  string
	size int64
	name backup.Name // of a periodic one
	// recorded is one that has a record beside it, which may be of something else.
	recorded bool
}

// stored is what its record says of an object; nil: it has none.
func (i item) stored(m *backup.Meta) backup.Stored {
	out := backup.Stored{Object: i.key, Name: i.name}
	if m != nil {
		out.SavedAt, out.Complete, out.Cluster = m.SavedAt, m.Trusted(i.size), m.ClusterID
	}
	return out
}

// items lists the periodic backups of the path, the newest first, and the object at the path
// itself, if there is one.
func (s *shelf) items(ctx context.Context, prefix string) (periodic []item, exact *item, err error) {
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

// meta reads the record of an object; nil: there is none that can be read as one.
func (s *shelf) meta(ctx context.Context, i item) (*backup.Meta, error) {
	if !i.recorded {
		return nil, nil
	}
	r, _, err := s.Get(ctx, backup.MetaName(i.key))
	if backup.ReasonOf(err, "") == backup.ReasonObjectMissing {
		return nil, nil // it has been removed meanwhile
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
		return nil, nil // what cannot be read tells nothing
	}
	return &m, nil
}

// trusted is the record of an object that is complete; nil: it is not.
func (s *shelf) trusted(ctx context.Context, i item) (*backup.Meta, error) {
	m, err := s.meta(ctx, i)
	if err != nil || m == nil || !m.Trusted(i.size) {
		return nil, err
	}
	return m, nil
}

// putMeta makes an object complete.
func (s *shelf) putMeta(ctx context.Context, key string, m backup.Meta) error {
	text, err := m.Encode()
	if err != nil {
		return err
	}
	if err := s.Put(ctx, backup.MetaName(key), bytes.NewReader(text)); err != nil {
		return fmt.Errorf("write the record of %q: %w", s.bucket+key, err)
	}
	return nil
}

// forget removes a record, if there is one. Anyone who may only add objects is not to need more.
func (s *shelf) forget(ctx context.Context, key string) error {
	there, err := s.List(ctx, backup.MetaName(key))
	if err != nil || len(there) == 0 {
		return err
	}
	return s.Delete(ctx, backup.MetaName(key))
}

// pick finds the object to read, and its record, if it has one: that which is named, or else the newest complete one,
// be it periodic or at the path itself. Where none is complete, what is at the path itself is taken, too: it may be of
// another program, which writes no records.
func (s *shelf) pick(ctx context.Context, object string, now time.Time) (item, *backup.Meta, error) {
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
		return item{}, nil, backup.Fail(backup.ReasonObjectMissing, "none of the %d backups of %q is complete; the newest is %q, which can be named to be taken nevertheless",
			len(periodic), s.bucket+s.key, s.bucket+periodic[0].key)
	}
	return item{}, nil, backup.Fail(backup.ReasonObjectMissing, "there is no backup %q", s.bucket+prefix)
}

// newest is the complete one that was saved last, and its record; nil: none is complete.
func (s *shelf) newest(ctx context.Context, exact *item, periodic []item, now time.Time) (item, *backup.Meta, error) {
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

// ofKey is the one of a key, nil if there is none.
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

// describe has a result say what is known of an object.
func (s *shelf) describe(i item, m *backup.Meta) backup.Result {
	r := backup.Result{Outcome: backup.Succeeded, Object: s.bucket + i.key, Size: i.size, Revision: i.name.Revision, SavedAt: i.name.Time}
	if m != nil {
		r.Revision, r.EtcdVersion, r.ClusterID, r.SavedAt = m.Revision, m.EtcdVersion, m.ClusterID, m.SavedAt
	}
	return r
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store keeps objects at the places that a backup's target can be: S3, Google's and
// Azure's object stores, Alibaba's through its S3 face, and a folder of a volume. It says what
// went wrong in one line that names what to look at, with a reason of package backup, and never
// a value of a Secret.
//
// What does not live here: what the objects are, and which of them belong together.
package store

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Object is one that is in a store.
type Object struct {
	Key  string
	Size int64
}

// Store is a place for objects. Errors have a reason of package backup.
type Store interface {
	// Put writes an object, in the place of one that there may be. There is nothing new under the
	// key, not even for a moment, unless the content ends without an error and within ctx.
	Put(ctx context.Context, key string, content io.Reader) error
	// Get reads an object, whose size it tells.
	Get(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// List gives all objects whose keys begin so.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes an object. It is no error that there is none.
	Delete(ctx context.Context, key string) error
	Close() error
}

// Open opens the store of a target, and gives the key within it that its path has. Whether the
// store can be reached is seen by the first call.
func Open(ctx context.Context, t backup.Target) (Store, string, error) {
	if t.Type == backup.Folder {
		return folder{t.Dir}, t.Path, nil
	}
	name, key, _ := strings.Cut(t.Path, "/")
	open := map[backup.Type]func(context.Context, backup.Target, string) (*bucket, error){
		backup.S3: openS3, backup.OSS: openOSS, backup.GCS: openGCS, backup.ABS: openABS,
	}[t.Type]
	if open == nil {
		return nil, "", backup.Fail(backup.ReasonBadOrder, "%q is no type of storage", t.Type)
	}
	b, err := open(ctx, t, name)
	if err != nil {
		return nil, "", err
	}
	return b, key, nil
}

// source remembers what its reader failed with. What a store makes of that differs, and
// some lose it.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

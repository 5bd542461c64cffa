// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store reads and writes the objects of backups. It supports S3, the object stores of Google, Azure and
// Alibaba, and a folder on a volume. Each error is one line that names what to check. It has a reason code that package
// backup defines, and contains no secrets.
//
// Package agent decides what the objects contain.
package store

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// Object is an object in a store.
type Object struct {
	Key  string
	Size int64
}

// Store holds objects. Each of its errors has a reason code that package backup defines.
type Store interface {
	// Put writes or replaces an object atomically. If the content ends with an error, or ctx ends, nothing changes.
	Put(ctx context.Context, key string, content io.Reader) error
	// Get reads an object and returns its size.
	Get(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// List returns all objects whose keys have the prefix.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes an object. A missing object is not an error.
	Delete(ctx context.Context, key string) error
	Close() error
}

// Open opens the store of a target, and returns the object key of its path. It does not connect: only the first call
// shows whether the store can be reached.
func Open(ctx context.Context, t backup.Target) (Store, string, error) {
	if t.Type == backup.Folder {
		return folder{t.Dir}, t.Path, nil
	}
	name, key, _ := strings.Cut(t.Path, "/")
	open := map[backup.Type]func(context.Context, backup.Target, string) (*bucket, error){
		backup.S3: openS3, backup.OSS: openOSS, backup.GCS: openGCS, backup.ABS: openABS,
	}[t.Type]
	if open == nil {
		return nil, "", backup.Fail(backup.ReasonBadOrder, "%q is not a type of storage", t.Type)
	}
	b, err := open(ctx, t, name)
	if err != nil {
		return nil, "", err
	}
	return b, key, nil
}

// source is a reader that remembers its error, because some client libraries lose it.
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

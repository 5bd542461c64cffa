// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"io"
	"time"

	"gocloud.dev/blob"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// A snapshot is uploaded in parts of partSize bytes; partsAtOne parts are in memory and sent at the same time. S3
// allows no smaller parts, and at most 10,000 parts per object. So an object can have 50 GB, which is enough, because
// an etcd database has up to about 8 GB.
const (
	partSize   = 5 << 20
	partsAtOne = 2
)

// tries is how often a failing call is tried. The client libraries wait between the tries.
const tries = 3

// undoTime is how long an upload may take to remove its parts after its context has ended. Parts that stay behind are
// invisible but cost money.
const undoTime = time.Second

// bucket is a bucket or container of an object store.
type bucket struct {
	*blob.Bucket
	provider string // name of the provider for messages
	name     string
	server   string // URL of the server; empty for the provider's own
	mask     mask
}

func (b *bucket) Put(ctx context.Context, key string, content io.Reader) error {
	from := &source{Reader: bounded{ctx, content}}
	later, cancel := outlive(ctx)
	defer cancel()
	err := b.Bucket.Upload(later, key, from, &blob.WriterOptions{
		BufferSize: partSize, MaxConcurrency: partsAtOne, ContentType: "application/octet-stream",
	})
	if from.err != nil {
		return from.err
	}
	return b.explain(err, "write the object", key)
}

// outlive returns a context that ends undoTime after ctx has ended, so that a cancelled upload can remove its parts.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(undoTime, func() { cancel(context.Cause(ctx)) })
	})
	return later, func() { stop(); cancel(nil) }
}

func (b *bucket) Get(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	r, err := b.Bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, 0, b.explainMissing(ctx, err, key)
	}
	return body{r, b, key}, r.Size(), nil
}

// body reads an object. It adds reason codes to read errors, because the agent reports such a code in its result.
type body struct {
	*blob.Reader
	from *bucket
	key  string
}

func (r body) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.from.explain(err, "read the object", r.key)
	}
	return n, err
}

// explainMissing distinguishes a missing object from a missing bucket, because some stores respond with the same error
// in both cases.
func (b *bucket) explainMissing(ctx context.Context, err error, key string) error {
	err = b.explain(err, "read the object", key)
	if backup.ReasonOf(err, "") != backup.ReasonObjectMissing {
		return err
	}
	if _, _, listErr := b.Bucket.ListPage(ctx, blob.FirstPageToken, 1, &blob.ListOptions{Prefix: key}); listErr != nil {
		if why := b.explain(listErr, "list the bucket", ""); backup.ReasonOf(why, "") == backup.ReasonBucketMissing {
			return why
		}
	}
	return err
}

func (b *bucket) List(ctx context.Context, prefix string) ([]Object, error) {
	var out []Object
	each := b.Bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := each.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, b.explain(err, "list the bucket", "")
		}
		if !o.IsDir {
			out = append(out, Object{Key: o.Key, Size: o.Size})
		}
	}
}

func (b *bucket) Delete(ctx context.Context, key string) error {
	err := b.explain(b.Bucket.Delete(ctx, key), "delete the object", key)
	if backup.ReasonOf(err, "") == backup.ReasonObjectMissing {
		return nil
	}
	return err
}

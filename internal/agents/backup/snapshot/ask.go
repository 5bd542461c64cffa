// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/status"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

const (
	// askTime is how long a member may take to report its status.
	askTime = 3 * time.Second
	// factsTime is how long a member may take to count and hash its data. Counting and hashing take some seconds per
	// GiB.
	factsTime = 30 * time.Second
)

// Cluster holds one connection to each member of an etcd cluster.
type Cluster struct{ members []*member }

// Open prepares connections to the members, without waiting for them. Ask shows which members respond.
func Open(endpoints []string, tlsDir string) (*Cluster, error) {
	config, err := loadTLS(tlsDir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	for _, endpoint := range endpoints {
		m, err := dial(endpoint, config)
		if err != nil {
			c.Close()
			return nil, backup.Fail(backup.ReasonBadOrder, "the endpoint %q cannot be used: %w", endpoint, err)
		}
		c.members = append(c.members, m)
	}
	return c, nil
}

// Close closes the connections.
func (c *Cluster) Close() {
	for _, m := range c.members {
		_ = m.client.Close() // no call is running, so an error does not matter
	}
}

// Ask queries the status of all members concurrently.
func (c *Cluster) Ask(ctx context.Context) []Answer {
	out := make([]Answer, len(c.members))
	var all sync.WaitGroup
	for i, m := range c.members {
		all.Go(func() { out[i] = m.ask(ctx) })
	}
	all.Wait()
	return out
}

func (m *member) ask(ctx context.Context) Answer {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s, err := m.maintenance.Status(ctx, &etcdserverpb.StatusRequest{})
	if err != nil {
		return Answer{Endpoint: m.endpoint, Err: plain(err)}
	}
	return Answer{
		Endpoint: m.endpoint, Version: s.GetVersion(), ClusterID: s.GetHeader().GetClusterId(), Revision: s.GetHeader().GetRevision(),
		Applied: s.GetRaftAppliedIndex(), Leader: s.GetLeader() == s.GetHeader().GetMemberId(), Led: s.GetLeader() != 0, Learner: s.GetIsLearner(), Corrupt: corrupt(s.GetErrors()),
	}
}

func corrupt(alarms []string) bool {
	return slices.ContainsFunc(alarms, func(alarm string) bool {
		return strings.Contains(alarm, etcdserverpb.AlarmType_CORRUPT.String())
	})
}

// Facts returns the number of keys and the hash of a member's data at a revision, for a later verification of the
// backup. A value that the member does not report in time is nil.
func (c *Cluster) Facts(ctx context.Context, a Answer) (keys *int64, hash *backup.Hash) {
	ctx, cancel := context.WithTimeout(ctx, patience(ctx))
	defer cancel()
	m := c.member(a.Endpoint)
	counted, err := m.client.Get(ctx, "\x00", clientv3.WithFromKey(), clientv3.WithCountOnly(), clientv3.WithRev(a.Revision), clientv3.WithSerializable())
	if err == nil {
		keys = &counted.Count
	}
	hashed, err := m.maintenance.HashKV(ctx, &etcdserverpb.HashKVRequest{Revision: a.Revision})
	if err == nil {
		hash = &backup.Hash{Value: hashed.GetHash(), CompactRevision: hashed.GetCompactRevision()}
	}
	return keys, hash
}

// patience returns the time limit for counting and hashing a member's data. It leaves three quarters of the remaining
// time for the snapshot itself.
func patience(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return factsTime
	}
	return min(factsTime, time.Until(end)/4)
}

// Interrupted is the error for a snapshot that the member did not send completely.
type Interrupted struct {
	Endpoint string
	Err      error
}

func (i *Interrupted) Error() string {
	return "the snapshot of " + i.Endpoint + " was interrupted: " + plain(i.Err).Error()
}
func (i *Interrupted) Unwrap() error { return i.Err }

// Read streams the snapshot of a member. Its errors have the type Interrupted.
func (c *Cluster) Read(ctx context.Context, a Answer) (io.ReadCloser, error) {
	stream, err := c.member(a.Endpoint).client.Snapshot(ctx)
	if err != nil {
		return nil, &Interrupted{a.Endpoint, err}
	}
	return &reader{stream, a.Endpoint}, nil
}

type reader struct {
	io.ReadCloser
	endpoint string
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Interrupted{r.endpoint, err}
	}
	return n, err
}

func (c *Cluster) member(endpoint string) *member {
	i := slices.IndexFunc(c.members, func(m *member) bool { return m.endpoint == endpoint })
	return c.members[i]
}

// plain returns the message of a gRPC error without the prefix that gRPC adds.
func plain(err error) error {
	if s, ok := status.FromError(err); ok {
		return errors.New(s.Message())
	}
	return err
}

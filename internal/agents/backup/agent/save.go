// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/agents/backup/snapshot"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// save takes a snapshot, unless this order has its backup, and then removes what is too many.
func (a *Agent) save(ctx context.Context, s *shelf, o backup.Order) (backup.Result, error) {
	result, err := a.before(ctx, s, o)
	if err != nil {
		return backup.Result{}, err
	}
	if result == nil {
		made, err := a.take(ctx, s, o)
		if err != nil {
			return backup.Result{}, err
		}
		result = &made
	}
	if o.Save.Time.IsZero() || o.Save.Keep == 0 {
		return *result, nil
	}
	return a.saved(ctx, s, o, *result), nil
}

// saved prunes. What has been saved is there, whatever comes of that.
func (a *Agent) saved(ctx context.Context, s *shelf, o backup.Order, result backup.Result) backup.Result {
	own := append([]string{result.ClusterID}, o.Save.Former...)
	pruned, others, err := a.pruneBut(ctx, s, o.Save.Keep, own, strings.TrimPrefix(result.Object, s.bucket), strings.TrimPrefix(o.Save.Spare, s.bucket))
	result.Pruned, result.PrunedObjects = pruned.Pruned, pruned.PrunedObjects
	if len(others) > 0 {
		result.Reason, result.Message = backup.ReasonOtherCluster, fmt.Sprintf("the path has backups of another cluster, too (%s), of which the newest %d stay until somebody removes them",
			strings.Join(others, ", "), o.Save.Keep)
	}
	if err != nil {
		result.Reason, result.Message = backup.ReasonPruneFailed, fmt.Sprintf("the backup is complete, but older ones could not be removed: %s", err)
	}
	return result
}

// before finds the backup that this order has made before; nil: it has made none.
func (a *Agent) before(ctx context.Context, s *shelf, o backup.Order) (*backup.Result, error) {
	prefix := s.key
	if !o.Save.Time.IsZero() {
		prefix = backup.Prefix(s.key)
	}
	periodic, exact, err := s.items(ctx, prefix)
	if err != nil {
		return nil, err
	}
	at := o.Save.Time.UTC().Truncate(time.Second)
	candidates := slices.DeleteFunc(periodic, func(i item) bool { return !i.name.Time.Equal(at) })
	if exact != nil && o.Save.Time.IsZero() {
		candidates = []item{*exact}
	}
	for _, i := range candidates {
		m, err := s.trusted(ctx, i)
		if err != nil {
			return nil, err
		}
		if m != nil && m.Order == o.ID {
			result := s.describe(i, m)
			result.Again = true
			return &result, nil
		}
	}
	return nil, nil
}

// take asks the members for a snapshot, one after the other until one gives all of it.
func (a *Agent) take(ctx context.Context, s *shelf, o backup.Order) (backup.Result, error) {
	cluster, err := snapshot.Open(o.Save.Endpoints, o.Save.TLSDir)
	if err != nil {
		return backup.Result{}, err
	}
	defer cluster.Close()
	var broken []string
	var last error
	for {
		from, err := next(candidates(cluster.Ask(ctx), o), broken)
		if err != nil && last != nil {
			err = fmt.Errorf("%w; then: %w", last, err)
		}
		if err != nil {
			return backup.Result{}, err
		}
		if from == nil {
			return backup.Result{}, last
		}
		result, err := a.takeFrom(ctx, s, o, cluster, *from)
		_, interrupted := errors.AsType[*snapshot.Interrupted](err)
		if !interrupted && !errors.Is(err, snapshot.ErrBroken) || ctx.Err() != nil {
			return result, err
		}
		a.Log.Warn("A member did not give its snapshot", "endpoint", from.Endpoint, "error", err.Error())
		broken, last = append(broken, from.Endpoint), source(err)
	}
}

// candidates leave out, of a backup that is made again and again, members that are cut off: what they give would count
// as new, and have better ones removed. Who wants one of them once has it, and is told.
func candidates(answers []snapshot.Answer, o backup.Order) []snapshot.Answer {
	if o.Save.Time.IsZero() {
		return answers
	}
	return snapshot.OnlyLed(answers)
}

// next is the best member that has not failed; nil: all have that answer.
func next(answers []snapshot.Answer, broken []string) (*snapshot.Answer, error) {
	candidates, err := snapshot.Choose(answers)
	if err != nil {
		return nil, err
	}
	for _, c := range candidates {
		if !slices.Contains(broken, c.Endpoint) {
			return &c, nil
		}
	}
	return nil, nil
}

// source gives an error of a member its reason.
func source(err error) error {
	if errors.Is(err, snapshot.ErrBroken) {
		return &backup.Error{Reason: backup.ReasonSnapshotBroken, Err: err}
	}
	return &backup.Error{Reason: backup.ReasonEtcdRefused, Err: err}
}

// takeFrom streams the snapshot of one member into the store, and then its record.
func (a *Agent) takeFrom(ctx context.Context, s *shelf, o backup.Order, cluster *snapshot.Cluster, from snapshot.Answer) (backup.Result, error) {
	m := backup.Meta{
		Order: o.ID, Time: o.Save.Time.UTC(), SavedAt: a.Clock.Now().UTC(), Revision: from.Revision,
		EtcdVersion: from.Version, ClusterID: fmt.Sprintf("%016x", from.ClusterID), Member: from.Endpoint,
	}
	if o.Save.Time.IsZero() {
		m.Time = time.Time{}
	}
	m.Keys, m.Hash = cluster.Facts(ctx, from)
	stream, err := cluster.Read(ctx, from)
	if err != nil {
		return backup.Result{}, err
	}
	defer stream.Close()
	key := backup.ObjectName(s.key, from.Revision, o.Save.Time)
	checked := snapshot.Check(stream)
	content := &then{Reader: checked, act: func() error { return s.forget(ctx, key) }}
	a.Log.Info("Saving", "object", s.bucket+key, "endpoint", from.Endpoint, "revision", from.Revision)
	if err := s.Put(ctx, key, content); err != nil {
		return backup.Result{}, fmt.Errorf("save %s: %w", from.Endpoint, err)
	}
	m.Size, m.SHA256 = checked.Size(), checked.SHA256()
	if err := s.putMeta(ctx, key, m); err != nil {
		return backup.Result{}, err
	}
	result := s.describe(item{key: key, size: m.Size}, &m)
	if !from.Led {
		result.Reason, result.Message = backup.ReasonNoLeader, from.Endpoint+" had no leader when it was read: what it holds may be old"
	}
	return result, nil
}

// then does something when all has been read, just before the object is complete: an object is
// never to have the record of the one before it.
type then struct {
	io.Reader
	act func() error
}

func (t *then) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if errors.Is(err, io.EOF) && t.act != nil {
		act := t.act
		t.act = nil
		if failed := act(); failed != nil {
			return n, failed
		}
	}
	return n, err
}

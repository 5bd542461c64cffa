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

// save saves a snapshot, unless an earlier run of this order has already saved one. After that, save removes older
// periodic backups if the order requests this.
func (a *Agent) save(ctx context.Context, s *catalog, o backup.Order) (backup.Result, error) {
	result, err := a.existing(ctx, s, o)
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
	return a.pruneAfter(ctx, s, o, *result), nil
}

// pruneAfter removes older backups after a save. If the removal fails, the new backup still counts as complete.
func (a *Agent) pruneAfter(ctx context.Context, s *catalog, o backup.Order, result backup.Result) backup.Result {
	own := append([]string{result.ClusterID}, o.Save.Former...)
	pruned, others, err := a.pruneBut(ctx, s, o.Save.Keep, own, strings.TrimPrefix(result.Object, s.bucket), strings.TrimPrefix(o.Save.Spare, s.bucket))
	result.Pruned, result.PrunedObjects = pruned.Pruned, pruned.PrunedObjects
	if len(others) > 0 {
		result.Reason, result.Message = backup.ReasonOtherCluster, fmt.Sprintf("the path also has backups of another cluster (%s); their newest %d backups stay until a user removes them",
			strings.Join(others, ", "), o.Save.Keep)
	}
	if err != nil {
		result.Reason, result.Message = backup.ReasonPruneFailed, fmt.Sprintf("the backup is complete, but older ones could not be removed: %s", err)
	}
	return result
}

// existing returns the result of an earlier run of this order if that run saved the backup; otherwise nil.
func (a *Agent) existing(ctx context.Context, s *catalog, o backup.Order) (*backup.Result, error) {
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

// take requests a snapshot from one member after another, until one of them has sent a complete snapshot.
func (a *Agent) take(ctx context.Context, s *catalog, o backup.Order) (backup.Result, error) {
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
		a.Log.Warn("A member did not send its snapshot", "endpoint", from.Endpoint, "error", err.Error())
		broken, last = append(broken, from.Endpoint), source(err)
	}
}

// candidates excludes members without a leader from periodic backups, because their outdated data would count as a new
// backup and displace better ones. A single backup may use them; its result then has a warning.
func candidates(answers []snapshot.Answer, o backup.Order) []snapshot.Answer {
	if o.Save.Time.IsZero() {
		return answers
	}
	return snapshot.OnlyLed(answers)
}

// next returns the best member that has not failed yet; nil if all have failed.
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

// source adds a reason code to an error of an etcd member. The agent reports the code in its result.
func source(err error) error {
	if errors.Is(err, snapshot.ErrBroken) {
		return &backup.Error{Reason: backup.ReasonSnapshotBroken, Err: err}
	}
	return &backup.Error{Reason: backup.ReasonEtcdRefused, Err: err}
}

// takeFrom streams the snapshot of a member into the store, and then writes the record of the new backup.
func (a *Agent) takeFrom(ctx context.Context, s *catalog, o backup.Order, cluster *snapshot.Cluster, from snapshot.Answer) (backup.Result, error) {
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
	content := &onEnd{Reader: checked, act: func() error { return s.forget(ctx, key) }}
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
		result.Reason, result.Message = backup.ReasonNoLeader, from.Endpoint+" had no leader when its snapshot was read, so the data may be outdated"
	}
	return result, nil
}

// onEnd is a reader that calls act once its source has ended, just before the store replaces the old object with the
// new one. act deletes the record of the old object, because this record must never describe the new object.
type onEnd struct {
	io.Reader
	act func() error
}

func (t *onEnd) Read(p []byte) (int, error) {
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

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/opcrew/opcrew/internal/agents/backup/snapshot"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// takeOver creates a data directory from the data of one member, unless an earlier run of this order (a task from the
// operator) has already created it. The member sends a snapshot. Sending a snapshot needs no quorum and changes
// nothing.
func (a *Agent) takeOver(ctx context.Context, o backup.Order) (backup.Result, error) {
	if before, err := madeBefore(o); before != nil || err != nil {
		return settled(before), err
	}
	from := o.Restore.From
	cluster, err := snapshot.Open([]string{from.Endpoint}, from.TLSDir)
	if err != nil {
		return backup.Result{}, err
	}
	defer cluster.Close()
	answers, err := snapshot.Choose(cluster.Ask(ctx))
	if err != nil {
		return backup.Result{}, err
	}
	answer := answers[0]
	if err := checkSource(*from, answer); err != nil {
		return backup.Result{}, err
	}
	result := backup.Result{Outcome: backup.Succeeded, Revision: answer.Revision, EtcdVersion: answer.Version, SavedAt: a.Clock.Now().UTC()}
	a.Log.Info("Copying the data of a member", "endpoint", from.Endpoint, "revision", answer.Revision, "directory", o.Restore.DataDir)
	return a.make(ctx, o, result, func(path string) error { return copySnapshot(ctx, cluster, answer, path) })
}

// checkSource refuses a member of another cluster, or a member that has lost data.
func checkSource(from backup.Source, answer snapshot.Answer) error {
	id, err := strconv.ParseUint(from.ClusterID, 16, 64)
	switch {
	case err != nil:
		return backup.Fail(backup.ReasonBadOrder, "%q is not a cluster ID: %w", from.ClusterID, err)
	case answer.ClusterID != id:
		return backup.Fail(backup.ReasonEtcdRefused, "%s belongs to cluster %x, but the restore needs data of cluster %x", from.Endpoint, answer.ClusterID, id)
	case answer.Applied < from.Index:
		return backup.Fail(backup.ReasonEtcdRefused, "%s has lost data: it has applied its log up to entry %d, but had already applied entry %d", from.Endpoint, answer.Applied, from.Index)
	}
	return nil
}

// copySnapshot streams the snapshot of a member into a file.
func copySnapshot(ctx context.Context, cluster *snapshot.Cluster, from snapshot.Answer, path string) error {
	stream, err := cluster.Read(ctx, from)
	if err != nil {
		return source(err)
	}
	defer stream.Close()
	err = copyTo(path, snapshot.Check(stream))
	if _, interrupted := errors.AsType[*snapshot.Interrupted](err); interrupted || errors.Is(err, snapshot.ErrBroken) {
		return fmt.Errorf("%s: %w", from.Endpoint, source(err))
	}
	return err
}

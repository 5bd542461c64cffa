// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Hash is the checksum of a member's keys. Two members have the same Hash if they applied the same log and neither lost
// or changed data.
type Hash struct {
	Sum uint32
	// Revision is the last revision that the checksum covers. Compacted is the revision up to which the member's
	// history was compacted.
	Revision, Compacted int64
}

func (h Hash) String() string {
	return fmt.Sprintf("%08x at revision %d, compacted at %d", h.Sum, h.Revision, h.Compacted)
}

// Compact deletes the history before a revision.
func (r *remote) Compact(ctx context.Context, revision int64) error {
	c, err := r.stepper(ctx)
	if err != nil {
		return err
	}
	_, err = c.Client.Compact(ctx, revision, clientv3.WithCompactPhysical())
	return typed(err)
}

// Defragment makes one member rewrite its data file, so that the file no longer contains free space.
func (r *remote) Defragment(ctx context.Context, endpoint string) error {
	c, err := r.conn(endpoint)
	if err != nil {
		return err
	}
	_, err = c.maintenance.Defragment(ctx, endpoint)
	return typed(err)
}

// Disarm clears an alarm.
func (r *remote) Disarm(ctx context.Context, alarm Alarm) error {
	kind, known := etcdserverpb.AlarmType_value[alarm.Kind]
	if !known || kind == int32(etcdserverpb.AlarmType_NONE) { // etcd would clear all alarms for an unknown kind
		return fmt.Errorf("no such alarm: %s", alarm.Kind)
	}
	c, err := r.stepper(ctx)
	if err != nil {
		return err
	}
	_, err = c.maintenance.AlarmDisarm(ctx, &clientv3.AlarmMember{MemberID: alarm.Member, Alarm: etcdserverpb.AlarmType(kind)})
	return typed(err)
}

// Hash returns the checksum of one member's data.
func (r *remote) Hash(ctx context.Context, endpoint string) (Hash, error) {
	c, err := r.conn(endpoint)
	if err != nil {
		return Hash{}, err
	}
	answer, err := c.maintenance.HashKV(ctx, endpoint, 0)
	if err != nil {
		return Hash{}, fmt.Errorf("%s: %w", endpoint, typed(err))
	}
	return Hash{Sum: answer.Hash, Revision: answer.Header.GetRevision(), Compacted: answer.CompactRevision}, nil
}

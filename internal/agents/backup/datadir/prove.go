// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"context"
	"errors"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

const (
	proofName = "proof"
	proofURL  = "http://127.0.0.1:0"
	// startTime is how long etcd may take to load the data and elect a leader.
	startTime = 5 * time.Minute
)

// proofMember returns the settings of the only member of a cluster that no client can reach. Its revision bump
// is 0, because etcd's hash of the data depends on the revisions.
func proofMember() backup.Restore {
	return backup.Restore{Name: proofName, InitialCluster: proofName + "=" + proofURL, Token: proofName, PeerURLs: []string{proofURL}, RevisionBump: new(int64)}
}

// prove starts etcd in a data directory that was created with the settings of proofMember. If m, the record of the
// backup, is not nil, prove compares the data with it.
func prove(ctx context.Context, dir string, m *backup.Meta) (backup.Verification, error) {
	etcd, err := embed.StartEtcd(proofConfig(dir))
	if err != nil {
		return backup.Verification{}, backup.Fail(reasonIn(err.Error()), "etcd does not start with the backup: %w", err)
	}
	defer etcd.Close()
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case <-etcd.Server.ReadyNotify():
	case err := <-etcd.Err():
		return backup.Verification{}, backup.Fail(backup.ReasonProcessFailed, "etcd ended while it was starting with the backup: %w", err)
	case <-ctx.Done():
		return backup.Verification{}, backup.Fail(backup.ReasonProcessFailed, "etcd did not start with the backup within %s", startTime)
	}
	return compare(ctx, etcd.Server.KV(), m)
}

func proofConfig(dir string) *embed.Config {
	at := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c := embed.NewConfig()
	c.Name, c.Dir = proofName, dir
	c.ListenClientUrls, c.AdvertiseClientUrls, c.ListenPeerUrls, c.AdvertisePeerUrls = at, at, at, at
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.LogLevel, c.LogOutputs = "error", []string{"stderr"}
	c.UnsafeNoFsync = true   // the directory is temporary
	c.QuotaBackendBytes = -1 // no quota, because the original member may have had a larger one
	c.EnableGRPCGateway = false
	return c
}

// compare compares the data with the record, at the revision in the record. Log entries after that revision and expired
// leases do not change the data at that revision.
func compare(ctx context.Context, kv mvcc.KV, m *backup.Meta) (backup.Verification, error) {
	v := backup.Verification{Revision: kv.Rev(), Recorded: m != nil}
	at := v.Revision
	if m != nil {
		at = m.Revision
	}
	if v.Revision < at {
		return v, backup.Fail(backup.ReasonCorrupt, "the backup ends at revision %d, but the member had reached revision %d when it was saved", v.Revision, at)
	}
	counted, err := kv.Range(ctx, []byte{0}, []byte{}, mvcc.RangeOptions{Rev: at, CountOnly: true})
	if errors.Is(err, mvcc.ErrCompacted) {
		v.Note = "the member was compacted while the backup was saved, so there is no hash to compare with"
		return v, nil
	}
	switch {
	case ctx.Err() != nil:
		return v, backup.Fail(backup.ReasonProcessFailed, "the keys of the backup were not counted within %s", startTime)
	case err != nil:
		return v, backup.Fail(backup.ReasonNotRestorable, "the keys of the backup cannot be read: %w", err)
	}
	v.Keys = int64(counted.Count)
	if m == nil {
		v.Note = "there is no record to compare with"
		return v, nil
	}
	return compareWith(kv, v, m)
}

func compareWith(kv mvcc.KV, v backup.Verification, m *backup.Meta) (backup.Verification, error) {
	if m.Keys != nil {
		v.KeysCompared = true
		if *m.Keys != v.Keys {
			return v, backup.Fail(backup.ReasonCorrupt, "the backup has %d keys at revision %d, but the member had %d when it was saved", v.Keys, m.Revision, *m.Keys)
		}
	}
	if m.Hash == nil {
		v.Note = "the member reported no hash to compare with"
		return v, nil
	}
	hash, _, err := kv.HashStorage().HashByRev(m.Revision)
	switch {
	case err != nil:
		return v, backup.Fail(backup.ReasonNotRestorable, "the keys of the backup cannot be hashed: %w", err)
	case hash.CompactRevision != m.Hash.CompactRevision:
		v.Note = "the member was compacted while the backup was saved, so the hashes cannot be compared"
		return v, nil
	}
	v.HashCompared = true
	if hash.Hash != m.Hash.Value {
		return v, backup.Fail(backup.ReasonCorrupt, "up to revision %d the hash of the backup is %d, but the hash of the member was %d", m.Revision, hash.Hash, m.Hash.Value)
	}
	return v, nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"bytes"
	"slices"
	"strings"
	"syscall"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// makeDir creates a data directory from a snapshot file. dir is the path of the directory, which must not exist yet.
// makeDir returns the newest revision in the directory.
func makeDir(from, dir string, r backup.Restore) (revision int64, err error) {
	if err := fits(r); err != nil {
		return 0, backup.Fail(backup.ReasonMemberInvalid, "etcd rejects the member settings of the order: %w", err)
	}
	said := &warnings{}
	defer func() {
		if cause := recover(); cause != nil {
			err = backup.Fail(reasonIn(said.line), "etcd cannot read the snapshot: %v %s", cause, said.last())
		}
	}()
	bump, err := bumpOf(from, r)
	if err != nil {
		return 0, err
	}
	err = snapshot.NewV3(logger(said)).Restore(snapshot.RestoreConfig{
		SnapshotPath: from, OutputDataDir: dir,
		Name: r.Name, PeerURLs: r.PeerURLs, InitialCluster: r.InitialCluster, InitialClusterToken: r.Token,
		RevisionBump: uint64(bump), MarkCompacted: bump > 0,
	})
	if err != nil {
		return 0, backup.Fail(reasonIn(said.line+err.Error()), "etcd cannot restore the snapshot: %w", err)
	}
	return lastRevision(dir + "/member/snap/db")
}

// bumpOf returns how much to add to the revision of a snapshot. It opens the snapshot only if the result depends on the
// revision in it.
func bumpOf(from string, r backup.Restore) (int64, error) {
	if r.Above == 0 && r.Bump() <= backup.DefaultBump {
		return r.Bump(), nil
	}
	at, err := lastRevision(from)
	if err != nil {
		return 0, err
	}
	return r.BumpFrom(at)
}

// fits runs etcd's own checks of the member settings before a restore, so that their errors are not mistaken for those
// of a bad snapshot.
func fits(r backup.Restore) error {
	peers, err := types.NewURLs(r.PeerURLs)
	if err != nil {
		return err
	}
	cluster, err := types.NewURLsMap(r.InitialCluster)
	if err != nil {
		return err
	}
	server := config.ServerConfig{
		Logger: zap.NewNop(), Name: r.Name, PeerURLs: peers, InitialPeerURLsMap: cluster, InitialClusterToken: r.Token,
	}
	return server.VerifyBootstrap()
}

// lastRevision returns the newest revision in a database file.
func lastRevision(path string) (revision int64, err error) {
	db, err := bolt.Open(path, 0o400, &bolt.Options{ReadOnly: true})
	if err != nil {
		return 0, backup.Fail(reasonIn(err.Error()), "the database cannot be opened: %w", err)
	}
	defer func() { _ = db.Close() }() // closing cannot lose data, because the database was opened read-only
	err = db.View(func(tx *bolt.Tx) error {
		keys := tx.Bucket(schema.Key.Name())
		if keys == nil {
			return backup.Fail(backup.ReasonNotRestorable, "the database has no keys")
		}
		if last, _ := keys.Cursor().Last(); last != nil {
			revision = mvcc.BytesToRev(last).Main
		}
		return nil
	})
	return revision, err
}

// logger returns a logger for etcd's code that turns fatal entries into panics.
func logger(said *warnings) *zap.Logger {
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{MessageKey: "message"})
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(said), zapcore.WarnLevel), zap.WithFatalHook(zapcore.WriteThenPanic))
}

// warnings keeps the last warning that etcd's code logged.
type warnings struct{ line string }

func (w *warnings) Write(p []byte) (int, error) {
	w.line = string(bytes.TrimSpace(p))
	return len(p), nil
}

func (w *warnings) last() string { return "(" + w.line + ")" }

// reasonIn decides by the text of an error whether the machine failed or the snapshot is bad. The text is needed
// because etcd's code drops the system error.
func reasonIn(text string) backup.Reason {
	answered := func(any ...syscall.Errno) bool {
		return slices.ContainsFunc(any, func(e syscall.Errno) bool { return strings.Contains(text, e.Error()) })
	}
	switch {
	case answered(syscall.ENOSPC, syscall.EDQUOT):
		return backup.ReasonDiskFull
	case answered(syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EIO):
		return backup.ReasonVolumeFailed
	case answered(syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.EADDRNOTAVAIL):
		return backup.ReasonProcessFailed
	}
	return backup.ReasonNotRestorable
}

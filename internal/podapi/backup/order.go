// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// MaxOrder is the maximum size of an encoded order in bytes. An order is passed as one argument or environment
// variable, and Linux limits each of these to 128 KiB.
const MaxOrder = 128<<10 - 1

// DefaultBump is how much a restore adds to the etcd revision by default. A cluster with fewer than 1500 writes per
// second needs more than a week to create that many revisions (etcd issue 16028).
const DefaultBump = 1_000_000_000

// Order is one task for the backups under one path. Exactly one of Save, Prune, Verify and Restore is set.
type Order struct {
	// ID identifies this order (a task of the backup program). The backup program does not carry out an order again if
	// it has already carried out one with this ID.
	ID     string `json:"id"`
	Target Target `json:"target"`
	// TimeoutSeconds is the time limit for the whole task; 0 means no limit.
	TimeoutSeconds int64 `json:"timeoutSeconds,omitempty"`

	Save    *Save    `json:"save,omitempty"`
	Prune   *Prune   `json:"prune,omitempty"`
	Verify  *Verify  `json:"verify,omitempty"`
	Restore *Restore `json:"restore,omitempty"`
}

// Type is a storage type.
type Type string

// These are the storage types. All but Folder are also storage types of the EtcdBackup kind.
const (
	S3     Type = "S3"
	ABS    Type = "ABS"
	GCS    Type = "GCS"
	OSS    Type = "OSS"
	Folder Type = "Folder"
)

// Target is the place where the backups of one path are stored.
type Target struct {
	Type Type `json:"type"`
	// Path is bucket/key, or a path relative to Dir for a Folder. ObjectName derives the keys of backups from it.
	Path string `json:"path"`
	// SecretDir is the mount path of the Secret; empty if there is none.
	SecretDir string `json:"secretDir,omitempty"`
	// Endpoint is the URL of an S3-compatible or similar server; empty means the server of the cloud provider.
	Endpoint string `json:"endpoint,omitempty"`
	// ForcePathStyle puts the bucket name into the path of S3 URLs instead of the host name.
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
	// Dir is the mount path of the volume for a Folder.
	Dir string `json:"dir,omitempty"`
}

// Save is the task to save a snapshot of an etcd cluster.
type Save struct {
	// Endpoints are the client URLs of the cluster's members.
	Endpoints []string `json:"endpoints"`
	// TLSDir is a directory with etcd-client.crt, etcd-client.key and etcd-client-ca.crt; empty without TLS.
	TLSDir string `json:"tlsDir,omitempty"`
	// Time is the scheduled time of a periodic backup in whole seconds, by the operator's clock; zero for a single
	// backup.
	Time time.Time `json:"time,omitzero"`
	// Keep is how many periodic backups to keep, including the new one; 0 means all.
	Keep int `json:"keep,omitempty"`
	// Spare is one more backup to keep: the last one that was verified successfully.
	Spare string `json:"spare,omitempty"`
	// Former lists previous cluster IDs of this etcd cluster. Backups with these IDs count as its own backups.
	Former []string `json:"former,omitempty"`
}

// Prune is the task to remove all periodic backups except the newest ones.
type Prune struct {
	Keep int `json:"keep"`
}

// Verify is the task to check that a backup can be restored.
type Verify struct {
	// Object is the key of the backup to verify. If it is empty, the newest complete periodic backup of the path is
	// verified. If there is none, the object at the path itself is verified.
	Object string `json:"object,omitempty"`
	// ScratchDir is a directory for the snapshot and a data directory. It needs free space of twice the size of the
	// snapshot.
	ScratchDir string `json:"scratchDir"`
}

// Restore is the task to create the data directory of one member.
type Restore struct {
	// From, if set, is a member whose data is copied instead of a backup. Target must then be empty.
	From *Source `json:"from,omitempty"`
	// Object is the backup to restore, selected as in Verify. A named object needs no record, because the snapshot
	// contains its own hash. It is restored even if a verification found it corrupt; the result then contains a
	// warning.
	Object string `json:"object,omitempty"`
	// DataDir is the data directory to create. Its parent directory must exist and have free space of twice the size of
	// the snapshot.
	DataDir string `json:"dataDir"`
	// Name, InitialCluster (name=url,...), Token and PeerURLs have the values of the member's etcd flags.
	Name           string   `json:"name"`
	InitialCluster string   `json:"initialCluster"`
	Token          string   `json:"token"`
	PeerURLs       []string `json:"peerURLs"`
	// RevisionBump is added to the revision of the restored data, and all lower revisions count as compacted. Watchers
	// of the old cluster then list again, and do not wait for revisions that they have already seen. nil means
	// DefaultBump; 0 means neither to raise nor to compact.
	RevisionBump *int64 `json:"revisionBump,omitempty"`
	// Above is a revision that clients of the cluster may have seen. If the revision of the backup plus RevisionBump is
	// not higher, RevisionBump is added to Above instead.
	Above int64 `json:"above,omitempty"`
}

// Source is a member whose data is copied for a restore. The copy works without a quorum.
type Source struct {
	// Endpoint is the client URL of the member.
	Endpoint string `json:"endpoint"`
	// TLSDir is a directory with client certificates, as in Save.
	TLSDir string `json:"tlsDir,omitempty"`
	// ClusterID (in hexadecimal) and Index identify the expected data: the cluster, and a log entry that the member has
	// applied. If the member now has fewer applied entries, it has lost data.
	ClusterID string `json:"clusterID"`
	Index     uint64 `json:"index"`
}

// Bump returns RevisionBump, or DefaultBump if RevisionBump is nil.
func (r Restore) Bump() int64 {
	if r.RevisionBump == nil {
		return DefaultBump
	}
	return *r.RevisionBump
}

// BumpFrom returns how much to add to the revision of a snapshot. It fails if the sum would exceed the largest
// revision.
func (r Restore) BumpFrom(revision int64) (int64, error) {
	bump := r.Bump()
	if bump == 0 {
		return 0, nil
	}
	from := revision
	if above := r.Above; revision <= math.MaxInt64-bump && revision+bump <= above {
		from = above
	}
	if from > math.MaxInt64-bump {
		return 0, Fail(ReasonMemberInvalid, "revisionBump is too large: the snapshot is at revision %d, and %d more exceeds the largest revision", from, bump)
	}
	return from - revision + bump, nil
}

// Subcommand returns the subcommand of opcrew-backup that carries out this order (a task); "" if the order does not
// have exactly one task.
func (o Order) Subcommand() string {
	out := ""
	for name, is := range map[string]bool{"save": o.Save != nil, "prune": o.Prune != nil, "verify": o.Verify != nil, "restore": o.Restore != nil} {
		switch {
		case is && out != "":
			return ""
		case is:
			out = name
		}
	}
	return out
}

// EncodeOrder returns an order (a task of the backup program) as JSON, for ParseOrder. It returns an error if the order
// is invalid.
func EncodeOrder(o Order) (string, error) {
	if err := o.Check(); err != nil {
		return "", err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode the order: %w", err)
	}
	if len(text) > MaxOrder {
		return "", fmt.Errorf("the order has %d bytes, but at most %d fit", len(text), MaxOrder)
	}
	return string(text), nil
}

// ParseOrder parses an order. It refuses unknown fields, because an order could otherwise be carried out only in part.
func ParseOrder(text string) (Order, error) {
	var o Order
	if len(text) > MaxOrder {
		return Order{}, fmt.Errorf("the order has %d bytes, but at most %d are allowed", len(text), MaxOrder)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return Order{}, fmt.Errorf("this version cannot read the order: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Order{}, errors.New("there is text after the order")
	}
	return o, o.Check()
}

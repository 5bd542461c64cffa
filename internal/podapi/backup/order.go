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

// MaxOrder limits an encoded order, in bytes. An order is one argument or one variable, and Linux limits each to 128
// KiB.
const MaxOrder = 128<<10 - 1

// DefaultBump is how much a restore adds to the revision by default. A cluster with fewer than 1500 writes per second
// needs more than a week for so many (etcd issue 16028).
const DefaultBump = 1_000_000_000

// Order is one task for the backups of one path. Exactly one of Save, Prune, Verify and Restore is set.
type Order struct {
	// ID identifies the order. An order with a known ID is not carried out again.
	ID     string `json:"id"`
	Target Target `json:"target"`
	// TimeoutSeconds limits the whole order; 0 means no limit.
	TimeoutSeconds int64 `json:"timeoutSeconds,omitempty"`

	Save    *Save    `json:"save,omitempty"`
	Prune   *Prune   `json:"prune,omitempty"`
	Verify  *Verify  `json:"verify,omitempty"`
	Restore *Restore `json:"restore,omitempty"`
}

// Type is a type of storage.
type Type string

// The types; all but Folder are storage types of EtcdBackup.
const (
	S3     Type = "S3"
	ABS    Type = "ABS"
	GCS    Type = "GCS"
	OSS    Type = "OSS"
	Folder Type = "Folder"
)

// Target is the location of backups.
type Target struct {
	Type Type `json:"type"`
	// Path is bucket/key; for a Folder it is relative to Dir. ObjectName returns the key of an object for it.
	Path string `json:"path"`
	// SecretDir is the directory of the mounted Secret, if there is one.
	SecretDir string `json:"secretDir,omitempty"`
	// Endpoint is the URL of a server other than the provider's own.
	Endpoint string `json:"endpoint,omitempty"`
	// ForcePathStyle puts the bucket's name into the path of S3 URLs instead of the host name.
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
	// Dir is the mount path of a Folder's volume.
	Dir string `json:"dir,omitempty"`
}

// Save takes a snapshot of a cluster.
type Save struct {
	// Endpoints are the client URLs of its members.
	Endpoints []string `json:"endpoints"`
	// TLSDir contains etcd-client.crt, etcd-client.key and etcd-client-ca.crt; empty without TLS.
	TLSDir string `json:"tlsDir,omitempty"`
	// Time is the scheduled time of a periodic backup, to the second, by the operator's clock. It is zero for a single
	// backup.
	Time time.Time `json:"time,omitzero"`
	// Keep is how many periodic backups to keep, including this one; 0 means all.
	Keep int `json:"keep,omitempty"`
	// Spare is a backup that is kept in addition: the last one that was verified successfully.
	Spare string `json:"spare,omitempty"`
	// Former lists earlier IDs of the cluster, as in Meta. Backups with these IDs count as the cluster's own.
	Former []string `json:"former,omitempty"`
}

// Prune removes all but the newest periodic backups.
type Prune struct {
	Keep int `json:"keep"`
}

// Verify checks that a backup can be restored.
type Verify struct {
	// Object is the object to verify. If it is empty, the latest complete backup of the path is verified, or else the
	// object at the path itself.
	Object string `json:"object,omitempty"`
	// ScratchDir is for the snapshot and its data directory. It needs twice the size of the snapshot.
	ScratchDir string `json:"scratchDir"`
}

// Restore creates the data directory of one member.
type Restore struct {
	// From is a member whose data is used instead of a backup. Target is then empty.
	From *Source `json:"from,omitempty"`
	// Object is as in Verify. A named object needs no record, because the hash in the snapshot is checked. It is used
	// even if a verification found it corrupt; the result then has a warning.
	Object string `json:"object,omitempty"`
	// DataDir is the member's --data-dir. Its parent directory must exist and have room for twice the snapshot.
	DataDir string `json:"dataDir"`
	// Name, InitialCluster (name=url,...), Token and PeerURLs are as in the member's flags.
	Name           string   `json:"name"`
	InitialCluster string   `json:"initialCluster"`
	Token          string   `json:"token"`
	PeerURLs       []string `json:"peerURLs"`
	// RevisionBump is added to the revision, and all revisions below count as compacted. So watchers of the old cluster
	// list again, instead of waiting for revisions that they have already seen. nil means DefaultBump; 0 does neither.
	RevisionBump *int64 `json:"revisionBump,omitempty"`
	// Above is a revision that clients of the cluster may have seen. If the backup's raised revision is not above it,
	// RevisionBump is added to Above instead.
	Above int64 `json:"above,omitempty"`
}

// Source is a member whose data is copied. It needs no quorum.
type Source struct {
	// Endpoint is its client URL.
	Endpoint string `json:"endpoint"`
	// TLSDir is as in Save.
	TLSDir string `json:"tlsDir,omitempty"`
	// ClusterID (in hex) and Index identify the member's data: its cluster, and a log entry that it has applied. A
	// member that has applied fewer entries has lost data.
	ClusterID string `json:"clusterID"`
	Index     uint64 `json:"index"`
}

// Bump returns RevisionBump, or DefaultBump if it is nil.
func (r Restore) Bump() int64 {
	if r.RevisionBump == nil {
		return DefaultBump
	}
	return *r.RevisionBump
}

// BumpFrom returns how much to add to the revision of a snapshot. It fails if the result would be too large.
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

// Subcommand returns the subcommand of opcrew-backup for the order, or "" unless the order has exactly one task.
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

// EncodeOrder returns the text that ParseOrder reads, or an error if the order is invalid.
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

// ParseOrder reads an order. It refuses unknown fields, because an order must not be carried out in part.
func ParseOrder(text string) (Order, error) {
	var o Order
	if len(text) > MaxOrder {
		return Order{}, fmt.Errorf("the order has %d bytes, and at most %d are read", len(text), MaxOrder)
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

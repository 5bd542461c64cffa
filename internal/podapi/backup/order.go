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

// MaxOrder limits an encoded order, in bytes: it is one argument or one variable, and Linux accepts
// 128 KiB of each.
const MaxOrder = 128<<10 - 1

// DefaultBump is what a restore adds to the revision. A cluster with fewer than 1500 writes a second
// needs more than a week for that many (etcd issue 16028).
const DefaultBump = 1_000_000_000

// Order is one task for the snapshots of one path. Exactly one of Save, Prune, Verify
// and Restore is set.
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

// Target is the storage of snapshots.
type Target struct {
	Type Type `json:"type"`
	// Path is bucket/key; for a Folder it is relative to Dir. ObjectName turns it into the key of an
	// object.
	Path string `json:"path"`
	// SecretDir is the directory of the mounted Secret, if there is one.
	SecretDir string `json:"secretDir,omitempty"`
	// Endpoint is the URL of a server other than the provider's own.
	Endpoint string `json:"endpoint,omitempty"`
	// ForcePathStyle puts the bucket's name into the path of S3's URLs instead of the host.
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
	// Dir is the mount of the volume of a Folder.
	Dir string `json:"dir,omitempty"`
}

// Save takes a snapshot of a cluster.
type Save struct {
	// Endpoints are the client URLs of its members.
	Endpoints []string `json:"endpoints"`
	// TLSDir has etcd-client.crt, etcd-client.key and etcd-client-ca.crt, if there is TLS.
	TLSDir string `json:"tlsDir,omitempty"`
	// Time is the time of the schedule of a periodic backup, to the second, by the operator's clock;
	// zero for a single backup.
	Time time.Time `json:"time,omitzero"`
	// Keep is how many periodic backups stay, including this one; 0 is all.
	Keep int `json:"keep,omitempty"`
	// Spare is a backup that stays in addition: the last one that was proven.
	Spare string `json:"spare,omitempty"`
	// Former are earlier IDs of the cluster, as in Meta: their backups count as its own.
	Former []string `json:"former,omitempty"`
}

// Prune removes all periodic backups but the newest ones.
type Prune struct {
	Keep int `json:"keep"`
}

// Verify proves that a backup can be restored.
type Verify struct {
	// Object is an object of the path. If it is empty, it is the complete one that was saved last, or else the one at
	// the path itself.
	Object string `json:"object,omitempty"`
	// ScratchDir holds the snapshot and its data directory: twice the size of the snapshot.
	ScratchDir string `json:"scratchDir"`
}

// Restore makes a data directory for one member.
type Restore struct {
	// From is the member whose data is used instead of a backup; then there is no Target.
	From *Source `json:"from,omitempty"`
	// Object is as in Verify. A named object needs no record, because its own hash is checked. It is used even if a proof
	// found it corrupt; the result warns of that.
	Object string `json:"object,omitempty"`
	// DataDir is the --data-dir of the member. Its parent must exist and have room for twice the
	// snapshot.
	DataDir string `json:"dataDir"`
	// Name, InitialCluster (name=url,...), Token and PeerURLs are as in the member's flags.
	Name           string   `json:"name"`
	InitialCluster string   `json:"initialCluster"`
	Token          string   `json:"token"`
	PeerURLs       []string `json:"peerURLs"`
	// RevisionBump is added to the revision, and older revisions count as compacted, so that watchers
	// of the old cluster list again instead of waiting for known revisions. nil is DefaultBump, 0 is
	// neither.
	RevisionBump *int64 `json:"revisionBump,omitempty"`
	// Above is a revision that clients of the cluster may have seen. If the raised revision of the backup is not above it,
	// RevisionBump is added to Above instead.
	Above int64 `json:"above,omitempty"`
}

// Source is a member that gives its data. It needs no quorum.
type Source struct {
	// Endpoint is its client URL.
	Endpoint string `json:"endpoint"`
	// TLSDir is as in Save.
	TLSDir string `json:"tlsDir,omitempty"`
	// ClusterID, in hexadecimal, and Index identify its data: the cluster, and an applied entry of the log. A member that has
	// applied less has lost data.
	ClusterID string `json:"clusterID"`
	Index     uint64 `json:"index"`
}

// Bump returns RevisionBump with its default.
func (r Restore) Bump() int64 {
	if r.RevisionBump == nil {
		return DefaultBump
	}
	return *r.RevisionBump
}

// BumpFrom returns by how much to raise the revision of a snapshot. It fails if the result would be too large.
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

// Subcommand returns the subcommand of opcrew-backup for the order; "" unless it has exactly one task.
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

// EncodeOrder returns the text that ParseOrder reads, or what is wrong with the order.
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

// ParseOrder reads an order and refuses unknown fields: half an order must not be carried out.
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

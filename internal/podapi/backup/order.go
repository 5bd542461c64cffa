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

// MaxOrder is how long an encoded order may be, in bytes: it travels as one argument or one
// variable, and Linux takes 128 KiB of each.
const MaxOrder = 128<<10 - 1

// DefaultBump is what a restore adds to the revision. A cluster that writes less than 1500
// times a second has not got that far within a week after the snapshot (etcd issue 16028).
const DefaultBump = 1_000_000_000

// Order is one thing to do with the snapshots of one path. Exactly one of Save, Prune, Verify
// and Restore is set.
type Order struct {
	// ID names the order. One that comes again under its ID is not carried out twice.
	ID     string `json:"id"`
	Target Target `json:"target"`
	// TimeoutSeconds is how long all of it may take; zero: without end.
	TimeoutSeconds int64 `json:"timeoutSeconds,omitempty"`

	Save    *Save    `json:"save,omitempty"`
	Prune   *Prune   `json:"prune,omitempty"`
	Verify  *Verify  `json:"verify,omitempty"`
	Restore *Restore `json:"restore,omitempty"`
}

// Type is a kind of place for snapshots.
type Type string

// The types; all but Folder are storage types of EtcdBackup.
const (
	S3     Type = "S3"
	ABS    Type = "ABS"
	GCS    Type = "GCS"
	OSS    Type = "OSS"
	Folder Type = "Folder"
)

// Target is where snapshots are kept.
type Target struct {
	Type Type `json:"type"`
	// Path is bucket/key; of a Folder, it is relative to Dir. What the key becomes is reported by
	// ObjectName.
	Path string `json:"path"`
	// SecretDir has the files of the mounted Secret, if there is one.
	SecretDir string `json:"secretDir,omitempty"`
	// Endpoint is the URL of a server that is not the provider's own.
	Endpoint string `json:"endpoint,omitempty"`
	// ForcePathStyle has the bucket's name in the path of S3's URLs and not in the host.
	ForcePathStyle bool `json:"forcePathStyle,omitempty"`
	// Dir is where the volume of a Folder is mounted.
	Dir string `json:"dir,omitempty"`
}

// Save takes a snapshot of a cluster.
type Save struct {
	// Endpoints are client URLs of its members.
	Endpoints []string `json:"endpoints"`
	// TLSDir has etcd-client.crt, etcd-client.key and etcd-client-ca.crt, if there is TLS.
	TLSDir string `json:"tlsDir,omitempty"`
	// Time is that of the occurrence of a periodic backup, to the second, by the operator's
	// clock; zero: one shot.
	Time time.Time `json:"time,omitzero"`
	// Keep is how many periodic backups stay, this one included; zero: all.
	Keep int `json:"keep,omitempty"`
	// Spare is a backup that stays beside these: the last that was proven, which one that was not is no successor of.
	Spare string `json:"spare,omitempty"`
	// Former are the ids that the cluster had before, as in Meta: their backups count as its own.
	Former []string `json:"former,omitempty"`
}

// Prune removes all periodic backups but the newest ones.
type Prune struct {
	Keep int `json:"keep"`
}

// Verify proves that a backup can be restored.
type Verify struct {
	// Object is one of the path's objects; empty: the complete one that was saved last by its record, or else the one
	// at the path itself.
	Object string `json:"object,omitempty"`
	// ScratchDir takes the snapshot and the data directory made of it: twice its size.
	ScratchDir string `json:"scratchDir"`
}

// Restore makes a data directory for one member.
type Restore struct {
	// From is the member whose data it is made of, in the place of a backup: then there is no Target.
	From *Source `json:"from,omitempty"`
	// Object is as in Verify. Named, it need not have a record, as its own hash is checked, and is taken although a
	// proof has found it corrupt; the result warns of that.
	Object string `json:"object,omitempty"`
	// DataDir is what the member gets as --data-dir. The directory above it must exist, and has
	// room for twice the snapshot.
	DataDir string `json:"dataDir"`
	// Name, InitialCluster (name=url,...), Token and PeerURLs are as in the member's flags.
	Name           string   `json:"name"`
	InitialCluster string   `json:"initialCluster"`
	Token          string   `json:"token"`
	PeerURLs       []string `json:"peerURLs"`
	// RevisionBump is added to the revision, and what is below it counts as compacted, so that
	// watchers of the old cluster list again instead of waiting for revisions that they have seen
	// already; nil: DefaultBump, 0: neither.
	RevisionBump *int64 `json:"revisionBump,omitempty"`
	// Above is a revision that clients of the cluster may have seen. An older backup is raised by RevisionBump from
	// there, where its own revision so raised is not above it.
	Above int64 `json:"above,omitempty"`
}

// Source is a member that is asked for its data. It need not have a quorum.
type Source struct {
	// Endpoint is its client URL.
	Endpoint string `json:"endpoint"`
	// TLSDir is as in Save.
	TLSDir string `json:"tlsDir,omitempty"`
	// ClusterID, in hexadecimal, and Index are what it is known by: its cluster, and an entry of the log that it
	// has carried out. One that has got less far has lost its data since.
	ClusterID string `json:"clusterID"`
	Index     uint64 `json:"index"`
}

// Bump is RevisionBump with its default.
func (r Restore) Bump() int64 {
	if r.RevisionBump == nil {
		return DefaultBump
	}
	return *r.RevisionBump
}

// BumpFrom is by how much the revision of a snapshot is raised. It fails where that would be more than a revision can be.
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
		return 0, Fail(ReasonMemberInvalid, "revisionBump is too large: the snapshot is at revision %d, and %d more is above all that etcd can count", from, bump)
	}
	return from - revision + bump, nil
}

// Subcommand is the one of opcrew-backup that carries the order out; empty: not exactly one does.
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

// EncodeOrder gives what ParseOrder reads, or says what is wrong with the order.
func EncodeOrder(o Order) (string, error) {
	if err := o.Check(); err != nil {
		return "", err
	}
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode the order: %w", err)
	}
	if len(text) > MaxOrder {
		return "", fmt.Errorf("the order has %d bytes, and at most %d fit", len(text), MaxOrder)
	}
	return string(text), nil
}

// ParseOrder reads an order and refuses whatever it does not understand: half an order is not
// to be carried out.
func ParseOrder(text string) (Order, error) {
	var o Order
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return Order{}, fmt.Errorf("the order is not what this version reads: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Order{}, errors.New("there is something behind the order")
	}
	return o, o.Check()
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxMeta is the maximum size of a record in bytes.
const MaxMeta = 64 << 10

const metaFormat = 1

// Meta is the record of a stored snapshot: a small JSON object next to the snapshot. An object without a record, or
// with another size than its record states, is incomplete.
type Meta struct {
	// Format is the version of the record format. It must be raised when older versions of opcrew would misread the
	// record.
	Format int `json:"format"`
	// Order is the ID of the order, the task of the backup program, that created the backup.
	Order string `json:"order"`
	// Time is the scheduled time of a periodic backup; zero for a single backup.
	Time    time.Time `json:"time,omitzero"`
	SavedAt time.Time `json:"savedAt"`

	// Revision is the revision of the etcd member when the snapshot started. The snapshot may also contain later
	// revisions.
	Revision    int64  `json:"revision"`
	EtcdVersion string `json:"etcdVersion"`
	ClusterID   string `json:"clusterID"` // 16 hexadecimal digits
	Member      string `json:"member"`    // the client URL that the snapshot was read from

	// Size is the size of the object in bytes. SHA256 is the hash of the whole object in hexadecimal.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Keys is the number of keys at Revision; nil if the member did not report it.
	Keys *int64 `json:"keys,omitempty"`
	// Hash is the hash that etcd computed over the data up to Revision; nil if the member did not report one.
	Hash *Hash `json:"hash,omitempty"`

	// Verified is the result of the last verification; nil if the backup was never verified.
	Verified *Verified `json:"verified,omitempty"`
}

// Hash is a response of etcd's HashKV call.
type Hash struct {
	Value uint32 `json:"value"`
	// CompactRevision is the revision of the last compaction. Two hashes can only be compared if they have the same
	// CompactRevision.
	CompactRevision int64 `json:"compactRevision"`
}

// Verified is the result of the verification of a backup.
type Verified struct {
	At time.Time `json:"at"`
	// Corrupt describes the damage; empty if etcd started with the backup.
	Corrupt string `json:"corrupt,omitempty"`
}

// Trusted reports whether an object of this size matches its record, and no verification has found it corrupt.
func (m Meta) Trusted(size int64) bool {
	return m.Size == size && (m.Verified == nil || m.Verified.Corrupt == "")
}

// Encode returns the record of a stored snapshot as JSON, for ParseMeta.
func (m Meta) Encode() ([]byte, error) {
	m.Format = metaFormat
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the backup record: %w", err)
	}
	return append(text, '\n'), nil
}

// ParseMeta parses the record of a stored snapshot. The record is untrusted input, because anyone with access to the
// store can write it.
func ParseMeta(text []byte) (Meta, error) {
	var m Meta
	if len(text) > MaxMeta {
		return Meta{}, fmt.Errorf("the object is not a backup record: it has %d bytes, but at most %d are allowed", len(text), MaxMeta)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return Meta{}, fmt.Errorf("the object is not a backup record: %w", err)
	}
	switch {
	case m.Format < 1 || m.Size <= 0 || m.Revision <= 0 || len(m.SHA256) != 64:
		return Meta{}, errors.New("the object is not a backup record")
	case m.Format > metaFormat:
		return Meta{}, fmt.Errorf("the backup record has format %d, but this version reads format %d", m.Format, metaFormat)
	}
	return m, nil
}

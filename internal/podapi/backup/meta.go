// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxMeta limits a record, in bytes.
const MaxMeta = 64 << 10

const metaFormat = 1

// Meta is the record of an object. An object without a record, or whose size differs from its record, is incomplete.
type Meta struct {
	// Format must be raised when an older reader would misunderstand the record.
	Format int `json:"format"`
	// Order is the ID of the order.
	Order string `json:"order"`
	// Time is the scheduled time, if the backup is periodic.
	Time    time.Time `json:"time,omitzero"`
	SavedAt time.Time `json:"savedAt"`

	// Revision is the member's revision when the snapshot started. The snapshot may contain later revisions.
	Revision    int64  `json:"revision"`
	EtcdVersion string `json:"etcdVersion"`
	ClusterID   string `json:"clusterID"` // in hex, 16 digits
	Member      string `json:"member"`    // the endpoint that was read

	// Size is the size of the object in bytes, and SHA256 the hash of the whole object, in hex.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Keys is the number of keys at Revision; nil if the member did not report it.
	Keys *int64 `json:"keys,omitempty"`
	// Hash is etcd's hash of the data up to Revision; nil if the member did not report it.
	Hash *Hash `json:"hash,omitempty"`

	// Verified is the result of the last verification; nil if there was none.
	Verified *Verified `json:"verified,omitempty"`
}

// Hash is the response of etcd's HashKV.
type Hash struct {
	Value uint32 `json:"value"`
	// CompactRevision is the revision of the last compaction. Hashes with different compactions cannot be compared.
	CompactRevision int64 `json:"compactRevision"`
}

// Verified is the result of a verification.
type Verified struct {
	At time.Time `json:"at"`
	// Corrupt says what is wrong; empty if etcd started with the backup.
	Corrupt string `json:"corrupt,omitempty"`
}

// Trusted reports whether the object's size matches the record, and no verification found the object corrupt.
func (m Meta) Trusted(size int64) bool {
	return m.Size == size && (m.Verified == nil || m.Verified.Corrupt == "")
}

// Encode returns the text that ParseMeta reads.
func (m Meta) Encode() ([]byte, error) {
	m.Format = metaFormat
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the record: %w", err)
	}
	return append(text, '\n'), nil
}

// ParseMeta reads a record, which is untrusted: anyone with access to the store can write it.
func ParseMeta(text []byte) (Meta, error) {
	var m Meta
	if len(text) > MaxMeta {
		return Meta{}, fmt.Errorf("not a record of a backup: it has %d bytes, and at most %d are read", len(text), MaxMeta)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return Meta{}, fmt.Errorf("not a record of a backup: %w", err)
	}
	switch {
	case m.Format < 1 || m.Size <= 0 || m.Revision <= 0 || len(m.SHA256) != 64:
		return Meta{}, errors.New("not a record of a backup")
	case m.Format > metaFormat:
		return Meta{}, fmt.Errorf("the record has format %d, and this version reads %d", m.Format, metaFormat)
	}
	return m, nil
}

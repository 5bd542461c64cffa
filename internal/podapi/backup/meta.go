// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxMeta is how long a record may be, in bytes.
const MaxMeta = 64 << 10

const metaFormat = 1

// Meta is the record of an object. An object that has none, or one of another size, is not
// complete.
type Meta struct {
	// Format is raised when an older reader would misunderstand the record.
	Format int `json:"format"`
	// Order is the ID of the one that was carried out.
	Order string `json:"order"`
	// Time is that of the occurrence, if the backup is periodic.
	Time    time.Time `json:"time,omitzero"`
	SavedAt time.Time `json:"savedAt"`

	// Revision is that of the member when the snapshot began. The snapshot has it, and may have
	// later ones.
	Revision    int64  `json:"revision"`
	EtcdVersion string `json:"etcdVersion"`
	ClusterID   string `json:"clusterID"` // in hex, 16 digits
	Member      string `json:"member"`    // the endpoint that was read

	// Size is that of the object in bytes, and SHA256 the hash of all of it, in hex.
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Keys is how many there were at Revision; nil: the member did not tell.
	Keys *int64 `json:"keys,omitempty"`
	// Hash is etcd's own, over all that the member held up to Revision; nil: it did not tell.
	Hash *Hash `json:"hash,omitempty"`

	// Verified is what the last proof has found; nil: there was none.
	Verified *Verified `json:"verified,omitempty"`
}

// Hash is what etcd calls HashKV.
type Hash struct {
	Value uint32 `json:"value"`
	// CompactRevision is up to where the history was compacted. Hashes over different
	// parts of the history differ.
	CompactRevision int64 `json:"compactRevision"`
}

// Verified is what a proof has found.
type Verified struct {
	At time.Time `json:"at"`
	// Corrupt says what is wrong; empty: it was restored.
	Corrupt string `json:"corrupt,omitempty"`
}

// Trusted reports whether a record speaks of an object of this size, of which nothing bad is known.
func (m Meta) Trusted(size int64) bool {
	return m.Size == size && (m.Verified == nil || m.Verified.Corrupt == "")
}

// Encode gives what ParseMeta reads.
func (m Meta) Encode() ([]byte, error) {
	m.Format = metaFormat
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode the record: %w", err)
	}
	return append(text, '\n'), nil
}

// ParseMeta reads a record. It can be anything: anyone who has access to the store can write there.
func ParseMeta(text []byte) (Meta, error) {
	var m Meta
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

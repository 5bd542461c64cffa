// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
)

const markerMode fs.FileMode = 0o600

// marker is the content of the file that names the member that owns the volume.
type marker struct {
	Cluster string `json:"cluster"`
	Member  string `json:"member"`
	ID      string `json:"id"`
}

func (m marker) String() string {
	return fmt.Sprintf("member %.80q (id %.40s) of cluster %.80s", m.Member, m.ID, m.Cluster)
}

// readMarker returns the marker, which names the member that owns the volume; nil if there is none. A malformed marker
// is an error: markers are written atomically, so the volume must be damaged.
func readMarker(path string) (*marker, error) {
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the marker: %w", err)
	}
	m := new(marker)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("the marker %s is damaged: %w", path, err)
	}
	return m, nil
}

// write writes the marker, which names the member that owns the volume, and syncs it to disk.
func (m marker) write(path string) error {
	text, err := json.Marshal(m)
	if err == nil {
		err = durable.Replace(path, bytes.NewReader(append(text, '\n')), markerMode)
	}
	if err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	return nil
}

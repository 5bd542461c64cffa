// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ufw

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Doubt is a file that exists while ufw may list rules that are not in the kernel, or no longer list rules that are. ufw
// writes its files before it changes the kernel, so this is so during a change, and after one that failed.
type Doubt struct{ Path string }

func (d Doubt) exists() bool {
	_, err := os.Stat(d.Path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (d Doubt) begin() error {
	if err := os.WriteFile(d.Path, nil, 0o600); err != nil {
		return fmt.Errorf("write the mark of a change of ufw: %w", err)
	}
	return nil
}

func (d Doubt) end() error {
	if err := os.Remove(d.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the mark of a change of ufw: %w", err)
	}
	return nil
}

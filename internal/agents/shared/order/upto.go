// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package order

import (
	"io"
	"os"
)

// UpTo returns the content of a file, but at most so many bytes.
func UpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

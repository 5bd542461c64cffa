// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// maxFile is the maximum size in bytes of a file that this package reads. All valid files are smaller.
const maxFile = 64 << 10

func readStart(path string) (etcdstart.Start, error) {
	text, err := read(path)
	if err != nil {
		return etcdstart.Start{}, err
	}
	return etcdstart.ParseStart(string(text))
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if len(text) > maxFile {
		return nil, errors.New("file " + path + " is too long")
	}
	return text, err
}

// writeReport writes the termination message. It overwrites the file in place, because the file itself is mounted.
func writeReport(path string, r etcdstart.Report) error {
	if err := os.WriteFile(path, r.Encode(), 0o644); err != nil {
		return fmt.Errorf("write the termination message: %w", err)
	}
	return nil
}

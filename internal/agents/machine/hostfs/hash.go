// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostfs

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
)

// hashed returns the entry of a file with its hash.
func hashed(d Dir, name string) (Entry, error) {
	file, info, err := d.Open(name)
	if err != nil {
		return Entry{}, err
	}
	defer file.Close()
	sum := sha256.New()
	read := int64(0)
	if info.Size <= MaxHash { // the file may grow meanwhile
		buffer := make([]byte, min(max(info.Size, minBuffer), maxBuffer))
		read, err = io.CopyBuffer(sum, io.LimitReader(file, MaxHash+1), buffer)
	}
	info.Hash = hex.EncodeToString(sum.Sum(nil))
	if size := max(info.Size, read); size > MaxHash {
		info.Hash = large + strconv.FormatInt(size, 10)
	}
	return info.Entry, err
}

const (
	// MaxHash is the size in bytes of the largest file whose content is read. Users can make a file that would keep the
	// agent busy for ever.
	MaxHash = 64 << 20
	large   = "size-"

	minBuffer, maxBuffer = 512, 32 << 10
)

// IsLarge reports whether a file is too large to be read. Its hash then says its size.
func (e Entry) IsLarge() bool { return strings.HasPrefix(e.Hash, large) }

// Hash returns the hash of a content, as Read does.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

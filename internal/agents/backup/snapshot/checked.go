// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// sector is the unit of file sizes, in bytes: the size of every etcd database is a multiple of it. If a file exceeds
// such a multiple by exactly the size of a hash, etcdutl treats the end of the file as the hash of the database.
const sector = 512

// ErrBroken is the error for a snapshot whose final hash does not match.
var ErrBroken = errors.New("the hash at the end of the snapshot does not match its data")

// Checked is a reader of a snapshot. etcd appends the SHA-256 of the database to a snapshot. Checked fails at the end
// of the data if this hash is missing or does not match.
type Checked struct {
	source io.Reader
	hash   hash.Hash
	size   int64
	held   [sha256.Size]byte // the last bytes that were read, which may be the appended hash
	count  int               // number of bytes in held
	whole  string
}

// Check returns a Checked that reads from source.
func Check(source io.Reader) *Checked { return &Checked{source: source, hash: sha256.New()} }

func (c *Checked) Read(p []byte) (int, error) {
	n, err := c.source.Read(p)
	c.feed(p[:n])
	if errors.Is(err, io.EOF) {
		err = c.end()
	}
	return n, err
}

// feed hashes all bytes except the last ones, which may be the appended hash.
func (c *Checked) feed(p []byte) {
	c.size += int64(len(p))
	if len(p) >= len(c.held) {
		c.hash.Write(c.held[:c.count])
		c.hash.Write(p[:len(p)-len(c.held)])
		c.count = copy(c.held[:], p[len(p)-len(c.held):])
		return
	}
	if over := c.count + len(p) - len(c.held); over > 0 {
		c.hash.Write(c.held[:over])
		c.count = copy(c.held[:], c.held[over:c.count])
	}
	c.count += copy(c.held[c.count:], p)
}

func (c *Checked) end() error {
	if c.whole != "" {
		return io.EOF
	}
	if c.size <= sha256.Size || c.size%sector != sha256.Size || !bytes.Equal(c.hash.Sum(nil), c.held[:]) {
		return ErrBroken
	}
	c.hash.Write(c.held[:])
	c.whole = hex.EncodeToString(c.hash.Sum(nil))
	return io.EOF
}

// Size returns how many bytes were read.
func (c *Checked) Size() int64 { return c.size }

// SHA256 returns the hash of the whole stream in hexadecimal, including the appended hash; "" before the end of the
// stream.
func (c *Checked) SHA256() string { return c.whole }

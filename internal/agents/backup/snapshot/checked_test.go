// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// whole returns a complete snapshot of a database with the given number of sectors.
func whole(sectors int) []byte {
	database := bytes.Repeat([]byte("0123456789abcdef"), sectors*sector/16)
	sum := sha256.Sum256(database)
	return append(database, sum[:]...)
}

func TestAWholeSnapshotPassesUnchanged(t *testing.T) {
	for name, by := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "by bytes": iotest.OneByteReader, "by halves": iotest.HalfReader,
		"with its end": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			want := whole(3)
			c := Check(by(bytes.NewReader(want)))
			got, err := io.ReadAll(c)
			sum := sha256.Sum256(want)
			if err != nil || !bytes.Equal(got, want) || c.Size() != int64(len(want)) || c.SHA256() != hex.EncodeToString(sum[:]) {
				t.Errorf("got %d bytes, %d, %s, %v", len(got), c.Size(), c.SHA256(), err)
			}
			if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("expected io.EOF again, got %d, %v", n, err)
			}
		})
	}
}

func TestAnIncompleteSnapshotIsAnError(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"empty":             func([]byte) []byte { return nil },
		"a hash of nothing": func([]byte) []byte { sum := sha256.Sum256(nil); return sum[:] },
		"without its hash":  func(b []byte) []byte { return b[:len(b)-sha256.Size] },
		"a byte short":      func(b []byte) []byte { return b[:len(b)-1] },
		"a sector short":    func(b []byte) []byte { return b[:len(b)-sector] },
		"its first sector":  func(b []byte) []byte { return b[sector:] },
		"one bit":           func(b []byte) []byte { b[100] ^= 8; return b },
		"one of the hash":   func(b []byte) []byte { b[len(b)-3] ^= 8; return b },
		"of an odd size": func([]byte) []byte {
			sum := sha256.Sum256([]byte("x"))
			return append([]byte("x"), sum[:]...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := Check(bytes.NewReader(change(whole(3))))
			if _, err := io.ReadAll(c); !errors.Is(err, ErrBroken) || c.SHA256() != "" {
				t.Errorf("got %v, %s", err, c.SHA256())
			}
		})
	}
}

func TestAnErrorOfTheSourceIsPassedOn(t *testing.T) {
	broken := errors.New("broken")
	c := Check(io.MultiReader(bytes.NewReader(whole(1)), iotest.ErrReader(broken)))
	if _, err := io.ReadAll(c); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

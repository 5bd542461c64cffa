// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxEncoded is the maximum size of an encoded configuration in bytes. A Secret holds 1 MiB; the rest is for its
	// metadata.
	MaxEncoded = 1<<20 - 16<<10
	// MaxConfig is the maximum size of a configuration in bytes before compression.
	MaxConfig = 16 << 20
)

// Encode returns the configuration as compressed JSON, for Parse. Equal configurations have equal encodings. It returns
// an error if the configuration is invalid or too large.
func Encode(c Config) ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration: %w", err)
	}
	if len(text) > MaxConfig {
		return nil, tooLarge(len(text), MaxConfig)
	}
	packed, err := compress(text)
	if err != nil {
		return nil, fmt.Errorf("compress the configuration: %w", err)
	}
	if len(packed) > MaxEncoded {
		return nil, tooLarge(len(packed), MaxEncoded)
	}
	return packed, nil
}

// Digest returns the hash of an encoded configuration, by which an order names it.
func Digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return "sha256-" + hex.EncodeToString(sum[:])
}

// Parse parses an encoded configuration. It refuses unknown fields, because a host that ignored one would be configured
// only in part.
func Parse(encoded []byte) (Config, error) {
	text, err := unpack(encoded)
	if err != nil {
		return Config{}, err
	}
	var c Config
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return Config{}, fmt.Errorf("this version cannot read the configuration: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Config{}, errors.New("there is text after the configuration")
	}
	return c, c.Check()
}

func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	writer, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(text); err != nil {
		return nil, err
	}
	err = writer.Close()
	return out.Bytes(), err
}

// unpack returns the JSON of an encoded configuration. It stops at the limit, so that a small text cannot fill the
// memory of the host.
func unpack(encoded []byte) ([]byte, error) {
	if len(encoded) > MaxEncoded {
		return nil, tooLarge(len(encoded), MaxEncoded)
	}
	reader, err := gzip.NewReader(bytes.NewReader(encoded))
	if err != nil {
		return nil, fmt.Errorf("the configuration is not compressed with gzip: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(reader, MaxConfig+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack the configuration: %w", err)
	case len(text) > MaxConfig:
		return nil, tooLarge(len(text), MaxConfig)
	}
	return text, nil
}

func tooLarge(size, limit int) error {
	return fmt.Errorf("the configuration has %d bytes, but at most %d fit: let a file refer to large contents elsewhere", size, limit)
}

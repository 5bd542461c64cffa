// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodefirewall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxDocument is the maximum size of an encoded document, in bytes. A ConfigMap holds one MiB.
const MaxDocument = 900 << 10

// ErrTooLarge is returned for a document that does not fit into a ConfigMap.
var ErrTooLarge = errors.New("the rules with the addresses of their sources do not fit into a ConfigMap")

// Encode returns the text of a document, a Pool or Nodes.
func Encode(document any) (string, error) {
	text, err := json.Marshal(document)
	if err == nil && len(text) > MaxDocument {
		err = fmt.Errorf("%w: %d bytes, but at most %d fit", ErrTooLarge, len(text), MaxDocument)
	}
	return string(text), err
}

// ParsePool parses the rules of a pool. It refuses unknown fields, because an agent that ignored one would open or close
// other ports than the user declared.
func ParsePool(text string) (Pool, error) {
	var p Pool
	if err := decode(text, MaxDocument, true, &p); err != nil {
		return Pool{}, err
	}
	return p, p.check()
}

// ParseNodes parses the addresses of nodes.
func ParseNodes(text string) (Nodes, error) {
	var n Nodes
	return n, decode(text, MaxDocument, true, &n)
}

// Revision identifies a document by its text.
func Revision(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

func decode(text string, limit int, strict bool, into any) error {
	if len(text) > limit {
		return fmt.Errorf("it has %d bytes, but at most %d are read", len(text), limit)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	if strict {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after it")
	}
	return nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
)

const (
	// MaxSize is the maximum size of an encoded ledger in bytes.
	MaxSize = 64 << 20
	// header begins the first line of the file. The hash of the rest follows.
	header = "opcrew-ledger 1 "
)

// file is the JSON of a ledger.
type file struct {
	Config  string   `json:"config,omitempty"`
	Records []Record `json:"records"`
}

// Encode returns the content of the ledger's file.
func Encode(l Ledger) ([]byte, error) {
	text, err := json.Marshal(file{l.Config, l.Sorted()})
	if err != nil {
		return nil, fmt.Errorf("encode the ledger: %w", err)
	}
	return slices.Concat([]byte(header), []byte(hostfs.Hash(text)), []byte("\n"), text), nil
}

// Parse parses the content of the ledger's file. It accepts only what Encode writes.
func Parse(content []byte) (Ledger, error) {
	l, err := parse(content)
	if err != nil {
		return Ledger{}, fmt.Errorf("the ledger is damaged, or another version of opcrew wrote it: %w", err)
	}
	return l, nil
}

func parse(content []byte) (Ledger, error) {
	first, text, _ := bytes.Cut(content, []byte("\n"))
	sum, known := strings.CutPrefix(string(first), header)
	switch {
	case len(content) > MaxSize:
		return Ledger{}, fmt.Errorf("it has more than %d bytes", MaxSize)
	case !known:
		return Ledger{}, errors.New("it does not begin with " + header)
	case sum != hostfs.Hash(text):
		return Ledger{}, errors.New("its content does not have the hash of its first line")
	}
	var f file
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return Ledger{}, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Ledger{}, errors.New("there is text after its end")
	}
	return f.ledger()
}

func (f file) ledger() (Ledger, error) {
	l := Ledger{Config: f.Config, Records: make(map[Key]Record, len(f.Records))}
	for _, r := range f.Records {
		if err := r.check(); err != nil {
			return Ledger{}, err
		}
		if _, twice := l.Records[r.Key]; twice {
			return Ledger{}, fmt.Errorf("it has two records for %s %s", r.Kind, r.Name)
		}
		l.Records[r.Key] = r
	}
	return l, nil
}

// check refuses records that would let the agent change something that no configuration can declare.
func (r Record) check() error {
	switch r.Kind {
	case Path, Keys, Boot:
		if !path.IsAbs(r.Name) || path.Clean(r.Name) != r.Name || r.Name == "/" {
			return fmt.Errorf("%q is not a path", r.Name)
		}
	case Sysctl:
		if path.Clean("/"+r.Name) != "/"+r.Name {
			return fmt.Errorf("%q is not the name of a sysctl", r.Name)
		}
	case Unit, Password:
		if r.Name == "" || strings.ContainsAny(r.Name, "/:\n") {
			return fmt.Errorf("%q is not the name of a unit or user", r.Name)
		}
	default:
		return fmt.Errorf("it has a record of the unknown kind %q", r.Kind)
	}
	return nil
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/agents/machine/ledger"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Item is the desired state of one key.
type Item struct {
	ledger.Key
	State ledger.State
	// Content is the content of a file; nil if the file keeps the content of the original.
	Content []byte
	// Overwrite allows the item to replace an original of another type.
	Overwrite bool
	// Kept is set for a file whose content is not opcrew's, but that of the original.
	Kept bool
}

// translator collects the items of a configuration, and everything that the host cannot do.
type translator struct {
	config hostconfig.Config
	ledger ledger.Ledger
	facts  Facts
	items  map[ledger.Key]Item
	// refused are the errors of items that the host cannot have.
	refused []refusal
}

type refusal struct {
	ledger.Key
	err error
}

func (t *translator) refuse(key ledger.Key, err error) {
	if err != nil {
		t.refused = append(t.refused, refusal{key, err})
	}
}

func (t *translator) add(item Item) { t.items[item.Key] = item }

// original returns the state that the host had before opcrew changed it.
func (t *translator) original(key ledger.Key) ledger.State {
	if r, known := t.ledger.Records[key]; known {
		return original(r, t.facts.States[key])
	}
	return t.facts.States[key]
}

// hasChanged reports whether opcrew has changed the content of a file, so that the ledger has a copy of the original.
func (t *translator) hasChanged(key ledger.Key) bool {
	r, known := t.ledger.Records[key]
	return known && r.Before.Hash != "" && (r.Written.Hash != r.Before.Hash || r.Pending)
}

// isAbsent also covers a state that was not observed.
func isAbsent(s ledger.State) bool { return s.Type == hostfs.Absent || s.Type == "" }

func path(name string) ledger.Key { return ledger.Key{Kind: ledger.Path, Name: name} }

// isStorable reports whether the ledger, which is JSON, can hold a state exactly.
func isStorable(s ledger.State) bool { return utf8.ValidString(s.Target) && utf8.ValidString(s.Value) }

func (t *translator) require(key ledger.Key, ok bool, format string, args ...any) {
	if !ok {
		t.refuse(key, fmt.Errorf(format, args...))
	}
}

// unitOf returns the unit to which a unit file or drop-in belongs.
func unitOf(key ledger.Key) (string, bool) {
	below, is := strings.CutPrefix(key.Name, hostconfig.UnitDirectory+"/")
	if !is || key.Kind != ledger.Path {
		return "", false
	}
	if folder, _, isDropIn := strings.Cut(below, "/"); isDropIn {
		below, is = strings.CutSuffix(folder, ".d")
	}
	return below, is && hostconfig.IsUnit(below)
}

func directory(mode uint32, uid, gid int) ledger.State {
	return ledger.State{Entry: hostfs.Entry{Type: hostfs.Directory, Mode: mode, UID: uid, GID: gid}}
}

// textFile is a file of root that everyone can read.
func textFile(p, content string) Item {
	entry := hostfs.Entry{Type: hostfs.File, Mode: defaultFile, Hash: hostfs.Hash([]byte(content))}
	return Item{Key: path(p), State: ledger.State{Entry: entry}, Content: []byte(content), Overwrite: true}
}

const (
	defaultFile      = 0o644
	defaultDirectory = 0o755
)

// original returns the state before opcrew changed it. As long as opcrew has not changed a file's content, it has no
// copy, and the content that another program writes becomes the original.
func original(r ledger.Record, found ledger.State) ledger.State {
	before := r.Before
	unchanged := before.Hash == "" || before.Hash == r.Written.Hash && !r.Pending
	if found.Type == hostfs.File && before.Type == hostfs.File && unchanged {
		before.Hash = found.Hash
	}
	return before
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// MaxResult is what a kubelet takes of a termination message, in bytes.
const MaxResult = 4096

// maxMessage is how much of a message is kept, in bytes: what a condition shows of it is one line.
const maxMessage = 1024

// Outcome is what became of an order.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "Succeeded"
	Failed    Outcome = "Failed"
	Stopped   Outcome = "Stopped" // the pod was ended before it was done
	Invalid   Outcome = "Invalid" // nothing was done, nor will be if it is ordered again
)

// Result is what became of an order. What is not known is left out.
type Result struct {
	Outcome Outcome `json:"outcome"`
	// Reason of what has failed; beside a success, it is of a warning.
	Reason Reason `json:"reason,omitempty"`
	// Message is one line.
	Message string `json:"message,omitempty"`
	// Again marks that the order had been carried out before.
	Again bool `json:"again,omitempty"`

	// Object is what was written, verified or restored, named as a path is.
	Object      string    `json:"object,omitempty"`
	Revision    int64     `json:"revision,omitempty"`
	EtcdVersion string    `json:"etcdVersion,omitempty"`
	ClusterID   string    `json:"clusterID,omitempty"` // as in Meta
	Size        int64     `json:"size,omitempty"`      // in bytes
	SavedAt     time.Time `json:"savedAt,omitzero"`
	StartedAt   time.Time `json:"startedAt,omitzero"`
	EndedAt     time.Time `json:"endedAt,omitzero"`

	// Pruned is how many backups were removed, and PrunedObjects are the first of them.
	Pruned        int      `json:"pruned,omitempty"`
	PrunedObjects []string `json:"prunedObjects,omitempty"`

	Verification *Verification `json:"verification,omitempty"`
	// RestoredRevision is what the restored cluster starts at.
	RestoredRevision int64 `json:"restoredRevision,omitempty"`
}

// Verification is what a proof compared.
type Verification struct {
	// Revision and Keys are what the restored store has: its newest revision, and how many keys
	// there are at the recorded one.
	Revision int64 `json:"revision"`
	Keys     int64 `json:"keys"`
	// Recorded, KeysCompared and HashCompared tell what there was to compare with.
	Recorded     bool `json:"recorded"`
	KeysCompared bool `json:"keysCompared"`
	HashCompared bool `json:"hashCompared"`
	// Note says why the hash was not compared.
	Note string `json:"note,omitempty"`
}

// Encode fits a result into what a kubelet takes.
func (r Result) Encode() []byte {
	r.Message = oneLine(r.Message, maxMessage)
	r.PrunedObjects = slices.Clone(r.PrunedObjects)
	for {
		text := encode(r)
		if len(text) <= MaxResult || r.Message == "" && len(r.PrunedObjects) == 0 {
			return text
		}
		if n := len(r.PrunedObjects); n > 0 {
			r.PrunedObjects = r.PrunedObjects[:n-1]
			continue
		}
		r.Message = oneLine(r.Message, len(r.Message)/2)
	}
}

func encode(r Result) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(r) // of strings and numbers, into memory
	return text.Bytes()
}

// oneLine has no control characters and at most so many bytes, of which the end matters less.
func oneLine(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, unicode.IsControl), " ")
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// ParseResult reads a termination message. It can be anything: of another program, or cut off.
// The container must not have its policy FallbackToLogsOnError.
func ParseResult(text string) (Result, error) {
	var r Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Result{}, fmt.Errorf("not a result: %w", err)
	}
	if !slices.Contains([]Outcome{Succeeded, Failed, Stopped, Invalid}, r.Outcome) {
		return Result{}, errors.New("not a result: its outcome is none that there is")
	}
	return r, nil
}

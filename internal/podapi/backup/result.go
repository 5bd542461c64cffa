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

// MaxResult is the size of a termination message that a kubelet keeps, in bytes.
const MaxResult = 4096

// maxMessage limits a message, in bytes, because a condition shows it in one line.
const maxMessage = 1024

// Outcome is the outcome of an order.
type Outcome string

// The outcomes.
const (
	Succeeded Outcome = "Succeeded"
	Failed    Outcome = "Failed"
	Stopped   Outcome = "Stopped" // the pod was stopped before the order was completed
	Invalid   Outcome = "Invalid" // nothing was done, and a retry would not help
)

// Result is the result of an order. Unknown values are left out.
type Result struct {
	Outcome Outcome `json:"outcome"`
	// Reason says why the order failed, or is the reason of a warning.
	Reason Reason `json:"reason,omitempty"`
	// Message is one line.
	Message string `json:"message,omitempty"`
	// Again means that the order had already been carried out before.
	Again bool `json:"again,omitempty"`

	// Object is the object that was written, verified or restored, as bucket/key.
	Object      string    `json:"object,omitempty"`
	Revision    int64     `json:"revision,omitempty"`
	EtcdVersion string    `json:"etcdVersion,omitempty"`
	ClusterID   string    `json:"clusterID,omitempty"` // as in Meta
	Size        int64     `json:"size,omitempty"`      // in bytes
	SavedAt     time.Time `json:"savedAt,omitzero"`
	StartedAt   time.Time `json:"startedAt,omitzero"`
	EndedAt     time.Time `json:"endedAt,omitzero"`

	// Pruned is how many backups were removed; PrunedObjects names the first of them.
	Pruned        int      `json:"pruned,omitempty"`
	PrunedObjects []string `json:"prunedObjects,omitempty"`

	Verification *Verification `json:"verification,omitempty"`
	// RestoredRevision is the first revision of the restored cluster.
	RestoredRevision int64 `json:"restoredRevision,omitempty"`
}

// Verification is the result of comparing a backup's data with its record.
type Verification struct {
	// Revision is the latest revision of the restored data, and Keys the number of keys at the recorded revision.
	Revision int64 `json:"revision"`
	Keys     int64 `json:"keys"`
	// Recorded, KeysCompared and HashCompared report what could be compared.
	Recorded     bool `json:"recorded"`
	KeysCompared bool `json:"keysCompared"`
	HashCompared bool `json:"hashCompared"`
	// Note says why the hash was not compared.
	Note string `json:"note,omitempty"`
}

// Encode returns a text that fits into a termination message.
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
	_ = encoder.Encode(r) // strings and numbers can always be encoded
	return text.Bytes()
}

// oneLine removes control characters and cuts off the end of a long text.
func oneLine(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, unicode.IsControl), " ")
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// ParseResult reads a termination message, which may come from another program or be cut off. The container must not
// use FallbackToLogsOnError.
func ParseResult(text string) (Result, error) {
	var r Result
	if len(text) > MaxResult {
		return Result{}, fmt.Errorf("not a result: it has %d bytes, and at most %d are read", len(text), MaxResult)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Result{}, fmt.Errorf("not a result: %w", err)
	}
	if !slices.Contains([]Outcome{Succeeded, Failed, Stopped, Invalid}, r.Outcome) {
		return Result{}, errors.New("not a result: unknown outcome")
	}
	r.tidy()
	return r, nil
}

// tidy makes texts fit for a status: any program in the pod can write the message.
func (r *Result) tidy() {
	for _, text := range []*string{(*string)(&r.Reason), &r.Message, &r.Object, &r.EtcdVersion, &r.ClusterID} {
		*text = oneLine(*text, maxMessage)
	}
	for i := range r.PrunedObjects {
		r.PrunedObjects[i] = oneLine(r.PrunedObjects[i], maxMessage)
	}
	if r.Verification != nil {
		r.Verification.Note = oneLine(r.Verification.Note, maxMessage)
	}
}

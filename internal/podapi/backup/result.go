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

// MaxResult is the maximum size of a result in bytes. Kubelets cut off longer termination messages.
const MaxResult = 4096

// maxMessage is the maximum length of a message in bytes, so that a condition can show it in one line.
const maxMessage = 1024

// Outcome describes how an order, a task of the backup program, ended.
type Outcome string

// These are the possible outcomes.
const (
	Succeeded Outcome = "Succeeded"
	Failed    Outcome = "Failed"
	Stopped   Outcome = "Stopped" // the pod was stopped before its task was completed
	Invalid   Outcome = "Invalid" // nothing was done, and repeating the task would not help
)

// Result is what the backup program reports about an order, its task. Unknown values are omitted.
type Result struct {
	Outcome Outcome `json:"outcome"`
	// Reason is why the task failed, or the reason of a warning.
	Reason Reason `json:"reason,omitempty"`
	// Message describes the failure or warning in one line.
	Message string `json:"message,omitempty"`
	// Again is true if an earlier process had already completed the task.
	Again bool `json:"again,omitempty"`

	// Object is the object that was written, verified or restored, as bucket/key.
	Object      string    `json:"object,omitempty"`
	Revision    int64     `json:"revision,omitempty"`
	EtcdVersion string    `json:"etcdVersion,omitempty"`
	ClusterID   string    `json:"clusterID,omitempty"` // 16 hexadecimal digits
	Size        int64     `json:"size,omitempty"`      // in bytes
	SavedAt     time.Time `json:"savedAt,omitzero"`
	StartedAt   time.Time `json:"startedAt,omitzero"`
	EndedAt     time.Time `json:"endedAt,omitzero"`

	// Pruned is the number of removed backups. PrunedObjects names the first of them.
	Pruned        int      `json:"pruned,omitempty"`
	PrunedObjects []string `json:"prunedObjects,omitempty"`

	Verification *Verification `json:"verification,omitempty"`
	// RestoredRevision is the first revision of the restored cluster.
	RestoredRevision int64 `json:"restoredRevision,omitempty"`
}

// Verification compares the data of a backup with its record.
type Verification struct {
	// Revision is the latest revision in the restored data. Keys is the number of keys at the recorded revision.
	Revision int64 `json:"revision"`
	Keys     int64 `json:"keys"`
	// Recorded is true if the backup has a record. KeysCompared and HashCompared are true if that value could be
	// compared.
	Recorded     bool `json:"recorded"`
	KeysCompared bool `json:"keysCompared"`
	HashCompared bool `json:"hashCompared"`
	// Note explains why the hash was not compared.
	Note string `json:"note,omitempty"`
}

// Encode returns the result as JSON that fits into a termination message.
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
	_ = encoder.Encode(r) // encoding strings and numbers cannot fail
	return text.Bytes()
}

// oneLine replaces control characters, and cuts a text off after a number of bytes.
func oneLine(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, unicode.IsControl), " ")
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "")
}

// ParseResult parses the termination message of a container. The message may come from another program, or be cut off.
// The container must not use FallbackToLogsOnError, because then the message could be log output.
func ParseResult(text string) (Result, error) {
	var r Result
	if len(text) > MaxResult {
		return Result{}, fmt.Errorf("the termination message is not a result: it has %d bytes, but at most %d are allowed", len(text), MaxResult)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Result{}, fmt.Errorf("the termination message is not a result: %w", err)
	}
	if !slices.Contains([]Outcome{Succeeded, Failed, Stopped, Invalid}, r.Outcome) {
		return Result{}, errors.New("the termination message is not a result: its outcome is unknown")
	}
	r.tidy()
	return r, nil
}

// tidy limits the texts of a result before they appear in a status, because any program in the pod can write the
// message.
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

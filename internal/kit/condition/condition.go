// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package condition sets status conditions, and summarizes several of them in the Ready condition. The API package of
// each kind defines its condition types and reasons.
package condition

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage is the maximum length of a message in bytes. The API allows 32,768 bytes, but a person on call must be
// able to read a message at a glance.
const maxMessage = 1024

// Set sets conditions of one object. All of them get the same observed generation and time.
type Set struct {
	Conditions *[]metav1.Condition
	Generation int64
	Now        time.Time
}

// True sets a condition to True.
func (s Set) True(kind, reason, message string) { s.set(kind, metav1.ConditionTrue, reason, message) }

// False sets a condition to False.
func (s Set) False(kind, reason, message string) { s.set(kind, metav1.ConditionFalse, reason, message) }

// Unknown sets a condition to Unknown.
func (s Set) Unknown(kind, reason, message string) {
	s.set(kind, metav1.ConditionUnknown, reason, message)
}

// Remove removes a condition.
func (s Set) Remove(kind string) { meta.RemoveStatusCondition(s.Conditions, kind) }

func (s Set) set(kind string, status metav1.ConditionStatus, reason, message string) {
	// A condition from the defaults of the CRD has no transition time, so the first reconcile sets one.
	if c := meta.FindStatusCondition(*s.Conditions, kind); c != nil && c.LastTransitionTime.Unix() <= 0 {
		c.LastTransitionTime = metav1.NewTime(s.Now)
	}
	meta.SetStatusCondition(s.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: Cut(message, maxMessage),
		ObservedGeneration: s.Generation, LastTransitionTime: metav1.NewTime(s.Now),
	})
}

// Cut limits a text to a number of bytes and replaces control characters and invalid UTF-8. If a text ended within a
// character, the API server would change the text. The status would then differ from the intended one and be written
// again and again.
func Cut(text string, most int) string {
	text = strings.Map(printable, strings.ToValidUTF8(text, "\ufffd"))
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("...")], "") + "..."
}

// Remark sets a condition to True, or removes it if message is empty. It suits conditions that exist only while there
// is something to report.
func (s Set) Remark(kind, reason, message string) {
	if message == "" {
		s.Remove(kind)
		return
	}
	s.True(kind, reason, message)
}

// printable replaces control characters, also those that reverse the direction of the text after them. It keeps line
// breaks, because some messages list problems line by line.
func printable(r rune) rune {
	if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && r != '\n' {
		return ' '
	}
	return r
}

// Blocker names a condition, and the statuses in which it blocks Ready.
type Blocker struct {
	Type     string
	Statuses []metav1.ConditionStatus
	// harmless is a reason with which the condition does not block Ready.
	harmless string
}

// But returns a Blocker that does not block Ready while the condition has a reason, which is only a warning.
func (b Blocker) But(reason string) Blocker {
	b.harmless = reason
	return b
}

// blocks reports whether a condition, or nil, blocks Ready.
func (b Blocker) blocks(c *metav1.Condition) bool {
	return c != nil && slices.Contains(b.Statuses, c.Status) && (b.harmless == "" || c.Reason != b.harmless)
}

// Unless returns a Blocker that blocks Ready while the condition is False or Unknown.
func Unless(kind string) Blocker {
	return Blocker{Type: kind, Statuses: []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown}}
}

// WhenFalse returns a Blocker that blocks Ready while the condition is False, but not while it is Unknown.
func WhenFalse(kind string) Blocker {
	return Blocker{Type: kind, Statuses: []metav1.ConditionStatus{metav1.ConditionFalse}}
}

// WhenTrue returns a Blocker that blocks Ready while the condition is True. It suits conditions that report a problem
// when they are True.
func WhenTrue(kind string) Blocker {
	return Blocker{Type: kind, Statuses: []metav1.ConditionStatus{metav1.ConditionTrue}}
}

// SumUp sets condition Ready. If a blocker applies, Ready gets the reason and message of the first one. Otherwise Ready
// is True with the given reason and message.
func (s Set) SumUp(blockers []Blocker, reason, message string) {
	for _, blocker := range blockers {
		c := meta.FindStatusCondition(*s.Conditions, blocker.Type)
		if !blocker.blocks(c) {
			continue
		}
		status := metav1.ConditionFalse
		if c.Status == metav1.ConditionUnknown {
			status = metav1.ConditionUnknown
		}
		s.set("Ready", status, c.Reason, c.Message)
		return
	}
	s.True("Ready", reason, message)
}

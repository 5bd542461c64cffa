// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package condition holds the small arithmetic of conditions: setting one, and
// summing several up in Ready. Which conditions a kind has, and their reasons, are
// in the kind's API package.
package condition

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage is how long a message may be: the API allows 32768 characters, but a
// message is one line to be read at 3 a.m.
const maxMessage = 1024

// Set is a list of conditions being written at one moment for one generation.
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

// Remove takes a condition away.
func (s Set) Remove(kind string) { meta.RemoveStatusCondition(s.Conditions, kind) }

func (s Set) set(kind string, status metav1.ConditionStatus, reason, message string) {
	// The default that a CRD gives has no time; the first look at the object has one.
	if c := meta.FindStatusCondition(*s.Conditions, kind); c != nil && c.LastTransitionTime.Unix() <= 0 {
		c.LastTransitionTime = metav1.NewTime(s.Now)
	}
	meta.SetStatusCondition(s.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: Cut(message, maxMessage),
		ObservedGeneration: s.Generation, LastTransitionTime: metav1.NewTime(s.Now),
	})
}

// Cut makes a text valid and at most so many bytes long. Half a character would come
// back from the API server as another one, and the status would be written for ever.
func Cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("...")], "") + "..."
}

// Blocker names a condition and the statuses of it that stand in the way of Ready.
type Blocker struct {
	Type     string
	Statuses []metav1.ConditionStatus
}

// Unless blocks Ready while the condition is not True.
func Unless(kind string) Blocker {
	return Blocker{kind, []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown}}
}

// WhenFalse blocks Ready only while the condition is False: not to know is no obstacle.
func WhenFalse(kind string) Blocker {
	return Blocker{kind, []metav1.ConditionStatus{metav1.ConditionFalse}}
}

// WhenTrue blocks Ready while the condition, whose True is bad, is True.
func WhenTrue(kind string) Blocker {
	return Blocker{kind, []metav1.ConditionStatus{metav1.ConditionTrue}}
}

// SumUp sets Ready from the first of the blockers that stands in the way, with its
// reason and message, or to True with the reason and message given.
func (s Set) SumUp(blockers []Blocker, reason, message string) {
	for _, blocker := range blockers {
		c := meta.FindStatusCondition(*s.Conditions, blocker.Type)
		if c == nil || !slices.Contains(blocker.Statuses, c.Status) {
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

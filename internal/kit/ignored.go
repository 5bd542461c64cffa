// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"strings"
	"time"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// ignorer is an object whose spec can set fields that have no effect.
type ignorer interface {
	// Ignored lists the paths of fields that are set but have no effect. A path may be followed by the reason, as in
	// "pod.antiAffinity (pod.affinity replaces it)".
	Ignored() []string
}

// reportIgnored sets condition FieldsIgnored. Its message lists the fields that have no effect, and the settings that
// the operator overrides.
func (l *Loop[O, F, D]) reportIgnored(object O, facts F, now time.Time) {
	declared, ok := any(object).(ignorer)
	set, conditioned := conditions(object, now)
	if !ok || !conditioned {
		return
	}
	var reason, message string
	if l.Overridden != nil {
		reason, message = l.Overridden(object, facts)
	}
	setIgnored(set, reason, message, declared.Ignored())
}

func setIgnored(set condition.Set, reason, message string, fields []string) {
	var words []string
	if message != "" {
		words = append(words, message)
	} else {
		reason = common.ReasonNoEffect
	}
	if len(fields) > 0 {
		words = append(words, "The API server accepted these fields, but they have no effect: "+strings.Join(fields, ", "))
	}
	if len(words) == 0 {
		set.Remove(common.ConditionFieldsIgnored)
		return
	}
	set.True(common.ConditionFieldsIgnored, reason, strings.Join(words, "; "))
}

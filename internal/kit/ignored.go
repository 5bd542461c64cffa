// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Ignorer is an object that knows which fields of its spec have no effect.
type Ignorer interface {
	// Ignored are the paths in the spec of fields that ask for something and get nothing, in order,
	// each with what it would take where another field stands in its way.
	Ignored() []string
}

// Overrider is a kind whose operator overrides parts of a spec that the object cannot name by itself.
type Overrider[O client.Object, F any] interface {
	// Overridden is pure: the reason and the message of condition FieldsIgnored for these parts; an
	// empty message means that there are none.
	Overridden(object O, facts F) (reason, message string)
}

// reportIgnored sets condition FieldsIgnored from what the object and its kind say now.
func (l *Loop[O, F]) reportIgnored(object O, facts F, now time.Time) {
	ignorer, ok := any(object).(Ignorer)
	set, conditioned := conditions(object, now)
	if !ok || !conditioned {
		return
	}
	var reason, message string
	if overrider, ok := l.Kind.(Overrider[O, F]); ok {
		reason, message = overrider.Overridden(object, facts)
	}
	setIgnored(set, reason, message, ignorer.Ignored())
}

func setIgnored(set condition.Set, reason, message string, fields []string) {
	var words []string
	if message != "" {
		words = append(words, message)
	} else {
		reason = common.ReasonNoEffect
	}
	if len(fields) > 0 {
		words = append(words, "Accepted and without effect: "+strings.Join(fields, ", "))
	}
	if len(words) == 0 {
		set.Remove(common.ConditionFieldsIgnored)
		return
	}
	set.True(common.ConditionFieldsIgnored, reason, strings.Join(words, "; "))
}

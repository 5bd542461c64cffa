// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

func TestAnEarlierReportOfThePodsStaysOnlyWhileTheServersAreNotReadAndNothingElseChanged(t *testing.T) {
	const updating = common.ReasonUpdating
	for name, test := range map[string]struct {
		change func(*Pods, *metav1.Condition)
		reason string
		want   bool
	}{
		"nothing changed":                 {func(*Pods, *metav1.Condition) {}, updating, true},
		"a step was taken since":          {func(in *Pods, _ *metav1.Condition) { in.Seen, in.View.Stale = true, true }, updating, true},
		"the servers were read":           {func(in *Pods, _ *metav1.Condition) { in.Seen = true }, updating, false},
		"another number of pods is ready": {func(in *Pods, _ *metav1.Condition) { in.Unchanged = false }, updating, false},
		"the spec changed":                {func(_ *Pods, before *metav1.Condition) { before.ObservedGeneration = 1 }, updating, false},
		"it was True":                     {func(_ *Pods, before *metav1.Condition) { before.Status = metav1.ConditionTrue }, updating, false},
		"there is another reason":         {func(*Pods, *metav1.Condition) {}, common.ReasonPodsNotReady, false},
		"a home was failing back":         {func(_ *Pods, before *metav1.Condition) { before.Reason = redisv1alpha1.ReasonFailingBack }, updating, true},
		"there was too little memory":     {func(_ *Pods, before *metav1.Condition) { before.Reason = redisv1alpha1.ReasonTooLittleMemory }, redisv1alpha1.ReasonScalingDown, true},
	} {
		in := Pods{Unchanged: true}
		before := metav1.Condition{Status: metav1.ConditionFalse, Reason: updating, ObservedGeneration: 2}
		test.change(&in, &before)
		if got := in.stands(before, condition.Set{Generation: 2}, test.reason); got != test.want {
			t.Errorf("%s: expected the report to stay: %t", name, test.want)
		}
	}
}

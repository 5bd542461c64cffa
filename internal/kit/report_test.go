// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditioned is a minimal object with conditions.
type conditioned struct {
	corev1.ConfigMap
	list []metav1.Condition
}

func (c *conditioned) StatusConditions() *[]metav1.Condition { return &c.list }
func (c *conditioned) StatusObservedGeneration() *int64      { return new(int64) }

func TestAConditionThatIsAsBeforeKeepsItsTime(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	is := func(status metav1.ConditionStatus, at time.Time) *conditioned {
		return &conditioned{list: []metav1.Condition{{Type: "Ready", Status: status, LastTransitionTime: metav1.NewTime(at)}}}
	}
	for name, test := range map[string]struct {
		before *conditioned
		want   time.Time
	}{
		"as before":                  {is("False", noon), noon},
		"changed":                    {is("True", noon), noon.Add(time.Hour)},
		"new":                        {&conditioned{}, noon.Add(time.Hour)},
		"the default of a CRD until": {is("False", time.Unix(0, 0)), noon.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			after := is("False", noon.Add(time.Hour)) // a report has set the condition to True and then to False
			keepTimes(test.before, after)
			if got := after.list[0].LastTransitionTime.Time; !got.Equal(test.want) {
				t.Errorf("its time is %s, expected %s", got, test.want)
			}
		})
	}
}

func TestAnEventIsOneLineThatTheServerTakes(t *testing.T) {
	got := note(metav1.Condition{Type: "Ready", Status: "False", Message: strings.Repeat("容", 1000)})
	if !strings.HasPrefix(got, "Ready is False: 容") || len(got) > 1024 || !utf8.ValidString(got) {
		t.Errorf("%d bytes that begin with %.20q, expected valid text of 1024 bytes at most", len(got), got)
	}
}

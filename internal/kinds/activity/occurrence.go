// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// occurrenceName returns the name of the Activity that a schedule creates for the given time. It depends only on the
// schedule and the time, so that two operators create only one Activity.
func occurrenceName(a *egov1.Activity, due time.Time) string {
	return fmt.Sprintf("%s-%d", a.Name, due.Unix()/60)
}

// occurrence declares the Activity that runs once at one time of a schedule. It has the same requester as the schedule.
func occurrence(a *egov1.Activity, due time.Time) runtime.ApplyConfiguration {
	spec := a.Spec.DeepCopy()
	spec.ScheduleSpec, spec.Cancel, spec.Run, spec.TTLSecondsAfterFinished = egov1.ScheduleSpec{}, false, nil, nil
	made := &egov1.Activity{Spec: *spec}
	made.Name = occurrenceName(a, due)
	return declared(a.Namespace, made)
}

// cancels returns the patches that cancel the active runs of a schedule, except the named one.
func cancels(atWork []egov1.Activity, but string) []kit.Patch {
	var out []kit.Patch
	for i := range atWork {
		if a := &atWork[i]; a.Name != but && !a.Spec.Cancel {
			out = append(out, kit.Patch{Object: a, Type: types.MergePatchType, Data: []byte(`{"spec":{"cancel":true}}`), Intent: "replace"})
		}
	}
	return out
}

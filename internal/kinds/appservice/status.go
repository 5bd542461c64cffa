// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// blockers lists the conditions that can keep Ready from being True. Ready reports the first of them, in this order,
// that is not True.
var blockers = []condition.Blocker{
	condition.Unless(appv1.AppServiceChildrenReady),
	condition.Unless(appv1.AppServiceRolledOut),
}

// Report fills in the status from the facts and the outcome of the plan.
func (r *reconciler) Report(a *appv1.AppService, f facts, d decision, done kit.Outcome) {
	s := &a.Status
	set := condition.Set{Conditions: &s.Conditions, Generation: a.Generation, Now: done.Now}
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: identity(a).Selector})
	s.Replicas, s.ReadyReplicas = f.rollout.Replicas(), f.rollout.Ready()
	reportChildren(set, a, done)
	f.nodePorts.Report(set, appv1.AppServiceChildrenReady, done)
	f.rollout.Report(set, a.Spec.Replicas(), done)
	if d.invalidImage != "" {
		set.False(appv1.AppServiceRolledOut, common.ReasonInvalidImage, "spec.image: "+d.invalidImage+podsStay(f.rollout))
	}
	rolled := meta.FindStatusCondition(s.Conditions, appv1.AppServiceRolledOut)
	set.SumUp(blockers, rolled.Reason, rolled.Message)
	f.rollout.Leftovers(done.Now).Report(set)
}

// reportChildren reports whether the children are as declared. If the image is invalid, there may be no children to
// create, which counts as success.
func reportChildren(set condition.Set, a *appv1.AppService, done kit.Outcome) {
	if a.DeletionTimestamp == nil && done.Err == nil && done.Held == 0 && len(done.Results) == 0 {
		set.True(appv1.AppServiceChildrenReady, common.ReasonAsDeclared, "No child objects are needed until spec.image is valid")
		return
	}
	done.ReportChildren(set, appv1.AppServiceChildrenReady)
}

func podsStay(r workload.Rollout) string {
	if r.Deployment == nil {
		return ""
	}
	return fmt.Sprintf("; the %d running pods stay unchanged", r.Replicas())
}

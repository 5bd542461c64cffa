// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package appservice

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// blockers are what stands in the way of Ready, the first that does being its cause.
var blockers = []condition.Blocker{
	condition.Unless(appv1.AppServiceChildrenReady),
	condition.Unless(appv1.AppServiceRolledOut),
}

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(a *appv1.AppService, f facts, done kit.Outcome, now time.Time) {
	s := &a.Status
	set := condition.Set{Conditions: &s.Conditions, Generation: a.Generation, Now: now}
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: identity(a).Selector})
	s.Replicas, s.ReadyReplicas = f.rollout.Replicas(), f.rollout.Ready()
	reportChildren(set, a, done)
	f.nodePorts.Report(set, appv1.AppServiceChildrenReady, done)
	f.rollout.Report(set, a.Spec.Replicas(), done)
	if why := workload.InvalidImage(a.Spec.Image); why != "" {
		set.False(appv1.AppServiceRolledOut, common.ReasonInvalidImage, "spec.image: "+why+stays(f))
	}
	rolled := meta.FindStatusCondition(s.Conditions, appv1.AppServiceRolledOut)
	set.SumUp(blockers, rolled.Reason, rolled.Message)
	f.rollout.Leftovers(now).Report(set)
}

// reportChildren reports an application that has none to be as declared: until its image
// is one, there may be nothing to make.
func reportChildren(set condition.Set, a *appv1.AppService, done kit.Outcome) {
	if a.DeletionTimestamp == nil && done.Err == nil && done.Held == 0 && len(done.Results) == 0 {
		set.True(appv1.AppServiceChildrenReady, common.ReasonAsDeclared, "Nothing is to be made yet")
		return
	}
	kit.ReportChildren(set, appv1.AppServiceChildrenReady, done)
}

func stays(f facts) string {
	if f.rollout.Deployment == nil {
		return ""
	}
	return fmt.Sprintf("; the %d pods that run stay as they are", f.rollout.Replicas())
}

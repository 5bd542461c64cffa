// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/decide"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/volumes"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/workload"
)

// Rollout holds everything that the condition UpToDate depends on.
type Rollout struct {
	// Problem is what is wrong with the spec or with the users' Secret.
	Problem string
	// Complaint is a server's refusal of a setting.
	Complaint string
	Members   workload.Members
	// Outdated is the number of pods that do not match the spec. Wait explains why none of them is restarted.
	Outdated int
	Wait     decide.Wait
	// Difference describes how the volume settings in the spec differ from the pods' volumes.
	Difference string
	Storage    volumes.Storage
	// IsOld is true if the servers have not been read yet, or have not been read since the last step.
	IsOld bool
	// Unchanged is true if the number of ready pods is the same as in the last report.
	Unchanged bool
}

// Report sets the condition UpToDate: whether every pod matches the spec and, if not, what the rollout waits for.
func (in Rollout) Report(set condition.Set) {
	const kind = redisv1alpha1.ConditionUpToDate
	members := in.Members.Set
	switch {
	case in.Problem != "":
		set.False(kind, redisv1alpha1.ReasonInvalidSpec, in.Problem)
	case in.Complaint != "":
		set.False(kind, redisv1alpha1.ReasonConfigRefused, "The servers refuse a setting of redisConfig: "+in.Complaint)
	case in.Outdated > 0:
		in.reportProgress(set)
	case members != nil && members.Status.ObservedGeneration < members.Generation:
		set.False(kind, common.ReasonUpdating, "The StatefulSet controller has not processed the last change yet")
	case in.Difference != "":
		set.False(kind, redisv1alpha1.ReasonVolumesFixed, in.Difference+"; a cluster keeps the volumes that it was created with: create another cluster and move the data, or restore the previous persistentSpec")
	default:
		in.reportStorage(set)
	}
}

// reportStorage reports volumes that are smaller than the spec requires.
func (in Rollout) reportStorage(set condition.Set) {
	const kind = redisv1alpha1.ConditionUpToDate
	growing, have := in.Storage.Growing()
	switch stuck := in.Storage.Stuck(); {
	case stuck != "":
		set.False(kind, redisv1alpha1.ReasonVolumesFixed, stuck)
	case growing != "":
		set.False(kind, redisv1alpha1.ReasonVolumesGrowing, fmt.Sprintf("%d of %d volumes have the requested size; %s", have, len(in.Storage.Claims), growing))
	default:
		set.True(kind, redisv1alpha1.ReasonAllUpToDate, "Every pod matches the spec")
	}
}

// reportProgress reports the progress of a rollout and what its next step waits for. Until the servers are read, the
// previous report stays if its reason, the spec and the number of ready pods are the same: see Pods.stands.
func (in Rollout) reportProgress(set condition.Set) {
	const kind = redisv1alpha1.ConditionUpToDate
	before := meta.FindStatusCondition(*set.Conditions, kind)
	if in.IsOld && in.Unchanged && before != nil && isOfGeneration(*before, set) && isProgress(before.Reason) {
		return
	}
	n := in.Members.Replicas()
	message := fmt.Sprintf("%d of %d pods match the spec", int(n)-in.Outdated, n)
	if in.Wait.Message != "" {
		message += "; " + in.Wait.Message
	}
	set.False(kind, cmp.Or(in.Wait.Reason, common.ReasonUpdating), message)
}

// isProgress reports whether a reason is one of those that reportProgress sets.
func isProgress(reason string) bool {
	return reason == common.ReasonUpdating || reason == redisv1alpha1.ReasonNoPersistence
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/tenant"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

func reportQuota(set condition.Set, m *customv1.MicroServiceDeploy, t quota.Tenant, trouble tenant.Trouble) {
	const kind = customv1.MicroServiceDeployQuotaEnforced
	switch b, asked := quota.BoundOf(m); {
	case !asked:
		set.Remove(kind)
	case t.Quotas[b] != nil && b == quota.ByClass:
		reportEnforced(set, trouble, fmt.Sprintf("ResourceQuota %s limits all pods of PriorityClass %s together, and no other pods", b.Name, customv1.QuotaPriorityClassName))
	case t.Quotas[b] != nil:
		reportEnforced(set, trouble, "ResourceQuota "+b.Name+" limits the pods of all MicroServiceDeploys in the namespace together")
	case t.Others:
		set.False(kind, customv1.ReasonQuotaNotEnforced, "Other owners run pods in this namespace. A ResourceQuota would limit these pods too, so opcrew creates none; to create it anyway, label the namespace with "+names.QuotaLabel+"=true, or set spec.quota to PriorityClass")
	case scaling.MostPods(m) == 0:
		set.True(kind, common.ReasonScaledToZero, "None of the MicroServiceDeploys that request this ResourceQuota needs pods, so opcrew creates no quota")
	default:
		why := awaited(trouble, common.ReasonApplying, "opcrew is creating the ResourceQuota")
		set.Unknown(kind, why.reason, why.message)
	}
}

// reportEnforced reports a quota that exists, even if it could not be updated.
func reportEnforced(set condition.Set, trouble tenant.Trouble, message string) {
	reason := customv1.ReasonEnforced
	if trouble != (tenant.Trouble{}) {
		reason, message = trouble.Reason, message+", but its limits are outdated: "+trouble.Message
	}
	set.True(customv1.MicroServiceDeployQuotaEnforced, reason, message)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"strings"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// reportRemarks sets the conditions that are there only where there is something to remark.
func (r reading) reportRemarks(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster) {
	remark(set, redisv1alpha1.ConditionImageReplaced, redisv1alpha1.ReasonVendorImage, r.image.replaced)
	var ignored string
	if names := c.Spec.Ignored(); len(names) > 0 {
		ignored = "Accepted and not served: " + strings.Join(names, ", ")
	}
	remark(set, redisv1alpha1.ConditionFieldsIgnored, redisv1alpha1.ReasonNotServed, ignored)
	remark(set, redisv1alpha1.ConditionSpecNormalized, redisv1alpha1.ReasonBlanksDropped, strings.Join(r.notes, "; "))
}

func remark(set condition.Set, kind, reason, words string) {
	if words == "" {
		set.Remove(kind)
		return
	}
	set.True(kind, reason, words)
}

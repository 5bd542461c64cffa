// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Remarks sets the conditions that exist only while there is something to report. certificate explains why the status
// page does not use the user's certificate; "" if the page uses it.
func Remarks(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, spec desired.Spec, certificate string) {
	set.Remark(redisv1alpha1.ConditionImageReplaced, redisv1alpha1.ReasonVendorImage, spec.Image.Replaced)
	var ignored string
	if names := c.Spec.Ignored(); len(names) > 0 {
		ignored = "opcrew accepts these fields but ignores them: " + strings.Join(names, ", ")
	}
	set.Remark(redisv1alpha1.ConditionFieldsIgnored, redisv1alpha1.ReasonNotServed, ignored)
	set.Remark(redisv1alpha1.ConditionSpecNormalized, redisv1alpha1.ReasonBlanksDropped, strings.Join(spec.Notes, "; "))
	set.Remark(common.ConditionProtectionMissing, common.ReasonProtectionMissing, c.Spec.Unprotected())
	set.Remark(redisv1alpha1.ConditionCertificateUnused, redisv1alpha1.ReasonInvalidCertificate, certificate)
}

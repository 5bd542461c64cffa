// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// Remarks sets the conditions that exist only while there is something to report. certificate explains why the status
// page does not use the user's certificate.
func Remarks(set condition.Set, c *redisv1alpha1.RedisEnterpriseCluster, spec desired.Spec, certificate string) {
	remark(set, redisv1alpha1.ConditionImageReplaced, redisv1alpha1.ReasonVendorImage, spec.Image.Replaced)
	var ignored string
	if names := c.Spec.Ignored(); len(names) > 0 {
		ignored = "Accepted and not served: " + strings.Join(names, ", ")
	}
	remark(set, redisv1alpha1.ConditionFieldsIgnored, redisv1alpha1.ReasonNotServed, ignored)
	remark(set, redisv1alpha1.ConditionSpecNormalized, redisv1alpha1.ReasonBlanksDropped, strings.Join(spec.Notes, "; "))
	remark(set, redisv1alpha1.ConditionCertificateUnused, redisv1alpha1.ReasonInvalidCertificate, certificate)
}

func remark(set condition.Set, kind, reason, message string) {
	if message == "" {
		set.Remove(kind)
		return
	}
	set.True(kind, reason, message)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestACertificateThatCannotBeServedIsReportedAndKeepsNothingUp(t *testing.T) {
	s := running(3)
	s.certificate = "Secret page is not there"
	reportAt(s.Cluster, s.look(), kit.Outcome{}, clustertest.Noon)
	if got := conditionText(s.Status.Conditions, "CertificateUnused"); got != "True InvalidCertificate: Secret page is not there" {
		t.Errorf("expected a report, got %s", got)
	}
	if got := conditionText(s.Status.Conditions, "Ready"); !strings.HasPrefix(got, "True") {
		t.Errorf("expected the cluster to be ready, got %s", got)
	}
	if got := s.plan().Again; got != badSecretInterval {
		t.Errorf("expected another look in %s, got %s", badSecretInterval, got)
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"testing"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestAPodThatAGuardDeniesIsReportedWithItsReason(t *testing.T) {
	done := kit.Outcome{Results: []ensure.Result{{Action: ensure.Denied, Reason: common.ReasonRequesterMayNot, Message: "bob may not get secrets keys"}}}
	reason, message := hindrance(verdict{}, done)
	if reason != common.ReasonRequesterMayNot || message != "bob may not get secrets keys" {
		t.Errorf("expected what the guard says, got %q: %q", reason, message)
	}
}

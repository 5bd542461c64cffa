// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"time"

	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

// dead returns a host that stopped responding the given time before noon.
func dead(before time.Duration) *Host {
	return &Host{since: activitytest.Noon.Add(-before), message: "Kubelet stopped posting node status."}
}

func allowed() *Start { return &Start{Order: "{}"} }

func blocked(reason, message string, final bool) *Start {
	return &Start{Obstacle: &Obstacle{Final: final, Reason: reason, Message: message}}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
)

func permitted() *run.Start { return &run.Start{Order: "{}"} }

func hindered(reason, message string, final bool) *run.Start {
	return &run.Start{Obstacle: &run.Obstacle{Final: final, Reason: reason, Message: message}}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rollout decides how members change to match the spec: their version, settings and resources, one member at a
// time. Package membership decides which members exist. Package snapshot decides whether members must write a snapshot
// before an upgrade.
package rollout

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
)

// update lists the rules that change one member to match the spec.
var update = []rule{awaitAgreement, recreateOutdated, advanceLog, changeNext}

// Update changes one member to match the spec. It changes the version in the running pod, and all other settings by
// recreating the pod.
func Update(in *Input) steps.Verdict {
	if in.Invalid {
		return steps.Verdict{}
	}
	return steps.First(in, update...)
}

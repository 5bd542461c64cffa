// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "github.com/opcrew/opcrew/api/common"

// Condition types of an AppService. Package common contains their reasons, which all application kinds share.
const (
	// AppServiceReady summarizes the other conditions. It is True only if ChildrenReady and RolledOut are True.
	// Otherwise it has the reason of the first of these two that is not True.
	AppServiceReady = "Ready"
	// AppServiceChildrenReady reports whether the Deployment, the Service and the PodDisruptionBudget have the fields
	// that the operator declares for them.
	AppServiceChildrenReady = "ChildrenReady"
	// AppServiceRolledOut reports whether all pods match the spec and are ready. If not, its message says what blocks
	// the first pod that does not match or is not ready.
	AppServiceRolledOut = common.ConditionRolledOut
	// AppServiceAvailable reports whether at least one pod serves users, with either the current or an earlier
	// template.
	AppServiceAvailable = common.ConditionAvailable
)

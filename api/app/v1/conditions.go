// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "github.com/opcrew/opcrew/api/common"

// Condition types of an AppService. Package common has their reasons, which the application
// kinds share.
const (
	// AppServiceReady summarizes the others: it is False with the first blocking cause.
	AppServiceReady = "Ready"
	// AppServiceChildrenReady reports whether Deployment, Service and disruption budget are as declared.
	AppServiceChildrenReady = "ChildrenReady"
	// AppServiceRolledOut reports whether all pods match the spec and are ready, and what
	// blocks the first one that is not.
	AppServiceRolledOut = common.ConditionRolledOut
	// AppServiceAvailable reports whether at least one pod, old or new, serves users.
	AppServiceAvailable = common.ConditionAvailable
)

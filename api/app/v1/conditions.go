// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "github.com/opcrew/opcrew/api/common"

// Condition types of an AppService. Their reasons are those that the application kinds
// share, in package common.
const (
	// AppServiceReady sums up the others: it is False with the first blocking cause.
	AppServiceReady = "Ready"
	// AppServiceChildrenReady tells whether Deployment, Service and disruption budget are as declared.
	AppServiceChildrenReady = "ChildrenReady"
	// AppServiceRolledOut tells whether all pods run what the spec says and are ready, and
	// what keeps the first that is not.
	AppServiceRolledOut = common.ConditionRolledOut
	// AppServiceAvailable tells whether users are served by at least one pod, old or new.
	AppServiceAvailable = common.ConditionAvailable
)

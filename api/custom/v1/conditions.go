// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "github.com/opcrew/opcrew/api/common"

// Condition types of a MicroServiceDeploy.
const (
	// MicroServiceDeployReady summarizes the other conditions. It is False if one of them keeps the instance from being
	// ready, and then has the reason of the first such condition.
	MicroServiceDeployReady = "Ready"
	// MicroServiceDeployChildrenReady reports whether all children of the instance have the fields that the operator
	// declares for them.
	MicroServiceDeployChildrenReady = "ChildrenReady"
	// MicroServiceDeployRolledOut reports whether all pods match the spec and are ready. If not, its message says what
	// keeps the first unready pod from being ready.
	MicroServiceDeployRolledOut = common.ConditionRolledOut
	// MicroServiceDeployAvailable reports whether at least one pod serves users. This pod may have the current pod
	// template or an earlier one.
	MicroServiceDeployAvailable = common.ConditionAvailable
	// MicroServiceDeployAutoscaled reports whether the autoscaler adapts the number of pods to their load. Only
	// instances with spec.autoscaling have it.
	MicroServiceDeployAutoscaled = "Autoscaled"
	// MicroServiceDeployQuotaEnforced reports whether a ResourceQuota limits what the tenant uses. Only instances with
	// spec.quota have it.
	MicroServiceDeployQuotaEnforced = "QuotaEnforced"
	// MicroServiceDeployAuthReady reports whether there are credentials against which requests can be checked. Only
	// instances with spec.needAuth have it.
	MicroServiceDeployAuthReady = "AuthReady"
	// MicroServiceDeployHostReady reports whether the instance serves its host names. Only instances that set
	// spec.baseDomain, or another field that applies to host names, have it.
	MicroServiceDeployHostReady = "HostReady"
	// MicroServiceDeployConfigWarning is True while spec.config seems to contain credentials, which everyone who can
	// read the object can see. Otherwise the condition is absent.
	MicroServiceDeployConfigWarning = "ConfigWarning"
)

// Condition reasons of a MicroServiceDeploy. Package common defines further reasons, for all kinds and for all
// application kinds.
const (
	// ReasonIdle: spec.idle has stopped the instance, so it has no pods.
	ReasonIdle = "Idle"
	// ReasonRevisionMissing: the revision that spec.rollbackTo names no longer exists.
	ReasonRevisionMissing = "RevisionMissing"
	// ReasonQuotaTooSmall: a ResourceQuota of the namespace has no room for the new pods.
	ReasonQuotaTooSmall = "QuotaTooSmall"
	// ReasonQuotaNotEnforced: other owners run pods in the namespace, so the operator does not create a quota that
	// would also limit those pods.
	ReasonQuotaNotEnforced = "QuotaNotEnforced"
	// ReasonConfigMissing: the Secret or the revision with the configuration does not exist.
	ReasonConfigMissing = "ConfigMissing"
	// ReasonEnforced: the ResourceQuota exists and limits what the tenant uses.
	ReasonEnforced = "Enforced"
	// ReasonScaling: the autoscaler adapts the number of pods to their load.
	ReasonScaling = "Scaling"
	// ReasonNoRequests: the pods request no CPU or memory, so the autoscaler cannot compute their use in percent.
	ReasonNoRequests = "NoRequests"
	// ReasonNoMetrics: the autoscaler gets no metrics.
	ReasonNoMetrics = "NoMetrics"
	// ReasonNotAble: the autoscaler cannot read or change the number of pods.
	ReasonNotAble = "NotAble"
	// ReasonCredentials: there are credentials against which requests can be checked.
	ReasonCredentials = "Credentials"
	// ReasonNoCredentials: there are no credentials, so every request is refused.
	ReasonNoCredentials = "NoCredentials"
	// ReasonHostTaken: another instance, which is older, already has the host name.
	ReasonHostTaken = "HostTaken"
	// ReasonHosted: the instance serves its host names.
	ReasonHosted = "Hosted"
	// ReasonNoDomain: the spec sets fields that apply to host names, but not spec.baseDomain, so there is no host name.
	ReasonNoDomain = "NoDomain"
	// ReasonNoGatewayAPI: the Gateway API is not installed, so the operator creates an Ingress instead.
	ReasonNoGatewayAPI = "NoGatewayAPI"
	// ReasonIgnoredLines: some lines of spec.config are neither variables nor files.
	ReasonIgnoredLines = "IgnoredLines"
	// ReasonTooManyKeys: the configuration has too many keys, so some of them are files but not environment variables.
	ReasonTooManyKeys = "TooManyKeys"
	// ReasonLooksSecret: names of keys in the configuration suggest that their values are credentials.
	ReasonLooksSecret = "LooksSecret"
)

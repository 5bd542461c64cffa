// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "github.com/opcrew/opcrew/api/common"

// Condition types of a MicroServiceDeploy.
const (
	// MicroServiceDeployReady summarizes the others: it is False with the first blocking cause.
	MicroServiceDeployReady = "Ready"
	// MicroServiceDeployChildrenReady reports whether all children of the instance are as declared.
	MicroServiceDeployChildrenReady = "ChildrenReady"
	// MicroServiceDeployRolledOut reports whether all pods match the spec and are ready, and
	// what blocks the first one that is not.
	MicroServiceDeployRolledOut = common.ConditionRolledOut
	// MicroServiceDeployAvailable reports whether at least one pod, old or new, serves users.
	MicroServiceDeployAvailable = common.ConditionAvailable
	// MicroServiceDeployAutoscaled reports whether the number of pods follows their load. Only
	// instances with spec.autoscaling have it.
	MicroServiceDeployAutoscaled = "Autoscaled"
	// MicroServiceDeployQuotaEnforced reports whether a quota limits the tenant's use. Only
	// instances with spec.quota have it.
	MicroServiceDeployQuotaEnforced = "QuotaEnforced"
	// MicroServiceDeployAuthReady reports whether there are credentials to check against. Only
	// instances with spec.needAuth have it.
	MicroServiceDeployAuthReady = "AuthReady"
	// MicroServiceDeployHostReady reports whether the instance has its host names. Only
	// instances with spec.baseDomain have it.
	MicroServiceDeployHostReady = "HostReady"
	// MicroServiceDeployConfigWarning is True while the configuration seems to contain
	// credentials that every reader of the object can see. Otherwise it is absent.
	MicroServiceDeployConfigWarning = "ConfigWarning"
)

// Reasons of a MicroServiceDeploy's conditions, in addition to those of every kind and of
// the application kinds.
const (
	// ReasonIdle: spec.idle has unloaded the instance.
	ReasonIdle = "Idle"
	// ReasonRevisionMissing: the revision of spec.rollbackTo no longer exists.
	ReasonRevisionMissing = "RevisionMissing"
	// ReasonQuotaTooSmall: the rollout does not fit into a quota of the namespace.
	ReasonQuotaTooSmall = "QuotaTooSmall"
	// ReasonQuotaNotEnforced: pods of other owners share the namespace.
	ReasonQuotaNotEnforced = "QuotaNotEnforced"
	// ReasonConfigMissing: the configuration does not exist.
	ReasonConfigMissing = "ConfigMissing"
	// ReasonEnforced: the quota is in place.
	ReasonEnforced = "Enforced"
	// ReasonScaling: the number of pods follows their load.
	ReasonScaling = "Scaling"
	// ReasonNoRequests: without requests the use of a pod cannot be compared with a target.
	ReasonNoRequests = "NoRequests"
	// ReasonNoMetrics: the autoscaler gets no metrics.
	ReasonNoMetrics = "NoMetrics"
	// ReasonNotAble: the autoscaler cannot read or write the number of pods.
	ReasonNotAble = "NotAble"
	// ReasonCredentials: there are credentials to check against.
	ReasonCredentials = "Credentials"
	// ReasonNoCredentials: there are no credentials, so every request is refused.
	ReasonNoCredentials = "NoCredentials"
	// ReasonHostTaken: an older instance has the host name.
	ReasonHostTaken = "HostTaken"
	// ReasonHosted: the instance has its host names.
	ReasonHosted = "Hosted"
	// ReasonNoDomain: fields about the host name are set, but spec.baseDomain is not.
	ReasonNoDomain = "NoDomain"
	// ReasonNoGatewayAPI: the cluster has no Gateway API; an Ingress is used instead.
	ReasonNoGatewayAPI = "NoGatewayAPI"
	// ReasonIgnoredLines: some lines of spec.config are neither variables nor files.
	ReasonIgnoredLines = "IgnoredLines"
	// ReasonTooManyKeys: not all of the configuration is in the environment.
	ReasonTooManyKeys = "TooManyKeys"
	// ReasonLooksSecret: keys of the configuration look like those of credentials.
	ReasonLooksSecret = "LooksSecret"
)

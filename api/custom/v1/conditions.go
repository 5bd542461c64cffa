// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "github.com/opcrew/opcrew/api/common"

// Condition types of a MicroServiceDeploy.
const (
	// MicroServiceDeployReady sums up the others: it is False with the first blocking cause.
	MicroServiceDeployReady = "Ready"
	// MicroServiceDeployChildrenReady tells whether all that belongs to the instance is as declared.
	MicroServiceDeployChildrenReady = "ChildrenReady"
	// MicroServiceDeployRolledOut tells whether all pods run what the spec says and are
	// ready, and what keeps the first that is not.
	MicroServiceDeployRolledOut = common.ConditionRolledOut
	// MicroServiceDeployAvailable tells whether users are served by at least one pod, old or new.
	MicroServiceDeployAvailable = common.ConditionAvailable
	// MicroServiceDeployAutoscaled tells whether the number of pods follows their load; it is
	// there only with spec.autoscaling.
	MicroServiceDeployAutoscaled = "Autoscaled"
	// MicroServiceDeployQuotaEnforced tells whether the tenant's use is bounded; it is there
	// only where a quota is asked for.
	MicroServiceDeployQuotaEnforced = "QuotaEnforced"
	// MicroServiceDeployAuthReady tells whether there are credentials to ask for; it is there
	// only with spec.needAuth.
	MicroServiceDeployAuthReady = "AuthReady"
	// MicroServiceDeployHostReady tells whether the instance has its host names; it is there
	// only with spec.baseDomain.
	MicroServiceDeployHostReady = "HostReady"
	// MicroServiceDeployConfigWarning is True while the configuration looks as if it held
	// credentials where everybody can read them; else it is absent.
	MicroServiceDeployConfigWarning = "ConfigWarning"
)

// Reasons of a MicroServiceDeploy's conditions, beside those that every kind and the
// application kinds share.
const (
	// ReasonIdle: spec.idle has unloaded the instance.
	ReasonIdle = "Idle"
	// ReasonRevisionMissing: the revision of spec.rollbackTo is not kept.
	ReasonRevisionMissing = "RevisionMissing"
	// ReasonQuotaTooSmall: the rollout does not fit into a quota of the namespace.
	ReasonQuotaTooSmall = "QuotaTooSmall"
	// ReasonQuotaNotEnforced: the namespace is shared with pods of others.
	ReasonQuotaNotEnforced = "QuotaNotEnforced"
	// ReasonConfigMissing: the configuration is not there.
	ReasonConfigMissing = "ConfigMissing"
	// ReasonEnforced: the quota is in place.
	ReasonEnforced = "Enforced"
	// ReasonScaling: the number of pods follows their load.
	ReasonScaling = "Scaling"
	// ReasonNoRequests: pods without requests have no use to compare with.
	ReasonNoRequests = "NoRequests"
	// ReasonNoMetrics: the autoscaler gets no metrics.
	ReasonNoMetrics = "NoMetrics"
	// ReasonNotAble: the autoscaler cannot read or write the number of pods.
	ReasonNotAble = "NotAble"
	// ReasonCredentials: there are credentials.
	ReasonCredentials = "Credentials"
	// ReasonNoCredentials: there are none, and nobody is let in.
	ReasonNoCredentials = "NoCredentials"
	// ReasonHostTaken: an older instance has the host name.
	ReasonHostTaken = "HostTaken"
	// ReasonHosted: the instance has its host names.
	ReasonHosted = "Hosted"
	// ReasonNoDomain: fields about the host name are set, and there is none without spec.baseDomain.
	ReasonNoDomain = "NoDomain"
	// ReasonNoGatewayAPI: there is no Gateway API in the cluster; an Ingress stands in.
	ReasonNoGatewayAPI = "NoGatewayAPI"
	// ReasonIgnoredLines: some lines of spec.config are neither variables nor files.
	ReasonIgnoredLines = "IgnoredLines"
	// ReasonTooManyKeys: not all of the configuration is in the environment.
	ReasonTooManyKeys = "TooManyKeys"
	// ReasonLooksSecret: keys of the configuration look like those of credentials.
	ReasonLooksSecret = "LooksSecret"
)

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/tenant"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler is keyed by a MicroServiceDeploy.
type reconciler struct {
	*kit.Tools
	around   *tenant.Neighbours
	troubles *tenant.Troubles
}

// facts holds all that is read about an instance.
type facts struct {
	rollout   workload.Rollout
	nodePorts workload.NodePorts
	scaler    *autoscalingv2.HorizontalPodAutoscaler // nil if there is none of ours
	// tenant is the input for the quotas of the namespace; trouble explains why they are not as desired.
	tenant  quota.Tenant
	trouble tenant.Trouble
	rivals  []customv1.MicroServiceDeploy
	// gateways reports whether Gateway API is installed.
	gateways bool
	// config is the configuration in the user's Secret; configs are objects of ours that templates name.
	config  *config.Config
	configs map[string]*config.Config
	// credentials is true if the Secret of spec.auth, or the tenant's, lets any user in.
	credentials bool
	// costly names its users whose passwords are never compared, as that would take too long.
	costly []string
	// foreign reports whether that Secret exists and is the user's own.
	foreign bool
	// agentImage is the image for the proxy. A pod keeps the image that it was created with.
	agentImage string
}

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

// reconciler reconciles MicroServiceDeploys.
type reconciler struct {
	*kit.Tools
	around   *tenant.Neighbours
	troubles *tenant.Troubles
}

// facts holds everything that is read about a MicroServiceDeploy.
type facts struct {
	rollout   workload.Rollout
	nodePorts workload.NodePorts
	scaler    *autoscalingv2.HorizontalPodAutoscaler // nil if opcrew created none
	// tenant is the input for the ResourceQuotas of the namespace. trouble explains why the quotas or shared
	// credentials are not as desired.
	tenant  quota.Tenant
	trouble tenant.Trouble
	rivals  []customv1.MicroServiceDeploy
	// gateways reports whether the Gateway API is installed.
	gateways bool
	// config is the configuration in the user's Secret. configs are the configuration objects of opcrew that pod
	// templates use.
	config  *config.Config
	configs map[string]*config.Config
	// credentials is true if the Secret with the credentials allows at least one user to log in.
	credentials bool
	// costly names the users in the Secret with the credentials who cannot log in, because their password hashes are
	// too expensive to compare.
	costly []string
	// foreign is true if the Secret with the credentials exists and opcrew does not manage it.
	foreign bool
	// agentImage is the image of the proxy. A pod keeps the image with which it was created.
	agentImage string
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Karpenter and Cluster API need not be installed, and only few NodePools refer to them. So an administrator grants
// these rights, and no installation of opcrew has them by default.

// Verify nodes with spec.machine.templateRef against Karpenter, where an administrator binds this role.
// +kubebuilder:rbac:groups=karpenter.sh,resources=nodeclaims,verbs=list,roleName=opcrew-karpenter
// Find out whether the NodeClass in spec.machine.templateRef exists, and which security groups its machines have.
// +kubebuilder:rbac:groups=karpenter.k8s.aws,resources=ec2nodeclasses,verbs=get,roleName=opcrew-karpenter
// Find out whether the NodeClass in spec.machine.templateRef exists, and which security groups its machines have.
// +kubebuilder:rbac:groups=karpenter.azure.com,resources=aksnodeclasses,verbs=get,roleName=opcrew-karpenter
// Find out whether the NodeClass in spec.machine.templateRef exists, and which security groups its machines have.
// +kubebuilder:rbac:groups=eks.amazonaws.com,resources=nodeclasses,verbs=get,roleName=opcrew-karpenter
// Find out whether the machine template in spec.machine.templateRef exists, where an administrator binds this role.
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmachinetemplates;azuremachinetemplates;dockermachinetemplates;gcpmachinetemplates;metal3machinetemplates;openstackmachinetemplates;vspheremachinetemplates,verbs=get,roleName=opcrew-cluster-api
// Verify nodes with spec.machine.templateRef against Cluster API, where an administrator binds this role.
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsmachines;azuremachines;dockermachines;gcpmachines;metal3machines;openstackmachines;vspheremachines,verbs=list,roleName=opcrew-cluster-api

// Setup returns a Reader that runs in the manager.
func Setup(mgr ctrl.Manager, now clock.PassiveClock) (*Reader, error) {
	live, err := limitedClient(mgr.GetConfig(), client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("create the client for machines: %w", err)
	}
	served, err := NewCatalog(mgr.GetConfig())
	if err != nil {
		return nil, err
	}
	reader := New(live, served, now)
	if err := mgr.Add(reader); err != nil {
		return nil, fmt.Errorf("run the reader of machines: %w", err)
	}
	return reader, nil
}

// limitedClient returns a client with limits for the rate of requests and the size of answers.
func limitedClient(config *rest.Config, options client.Options) (client.Client, error) {
	return client.New(limitsOf(config), options)
}

func limitsOf(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.RateLimiter = requestRate, requestRate, nil
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return limited{next} })
	return config
}

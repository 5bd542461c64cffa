// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodepool reconciles NodePools: sets of nodes with the same labels, taints and annotations, and a RuntimeClass
// that schedules pods to them. One reconciler (node.go) handles Nodes and is the only writer of Nodes. Another
// reconciler (plan.go, status.go) handles NodePools and writes their children and status: the RuntimeClass, and the
// MachineConfigPool of a NodePool with spec.machineConfigSelector (configpool.go), and the Activities of its pipelines
// (pipelines.go) and of the remediation of dead machines (remediate.go). Package firewall delivers firewall rules to
// agents on nodes.
package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/firewall"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines/reading"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/refusals"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/remediation"
	"github.com/opcrew/opcrew/internal/kit"
)

// Read NodePools, and change their finalizer.
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools,verbs=get;list;watch;patch
// Write the status of NodePools.
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/status,verbs=patch
// Set an owner reference on the RuntimeClass that blocks the deletion of the NodePool until the RuntimeClass is gone.
// +kubebuilder:rbac:groups=nodes.lailin.xyz,resources=nodepools/finalizers,verbs=update
// Set labels, taints and annotations on the nodes of a NodePool.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch;patch
// Find out which pods a change would evict, for the preview of a dry run.
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// Read its own CRD to check that opcrew installed it.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=nodepools.nodes.lailin.xyz,verbs=get
// Find out whether MachineConfig is installed, and notice when it gets installed.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=machineconfigs.machineconfiguration.openshift.io;machineconfigpools.machineconfiguration.openshift.io,verbs=get;list;watch
// Check whether the admission policy that records who set spec.machineConfigSelector is in force.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,resourceNames=opcrew-nodepool-rights,verbs=get
// Run the commands of spec.onJoin, spec.onLeave and spec.remediation as Activities, cancel them, and delete old ones.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities,verbs=get;list;watch;create;patch;delete
// Find out whether Activity is installed, and notice when it gets installed.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=activities.ego.example.com,verbs=get;list;watch
// Find out whether kubelets renew their leases, before a machine with spec.remediation is fenced.
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=list
// Manage the RuntimeClass of a NodePool; watch all RuntimeClasses to notice when a taken name becomes free.
// +kubebuilder:rbac:groups=node.k8s.io,resources=runtimeclasses,verbs=get;list;watch;create;patch;delete

// nodeWorkers is the number of nodes that are reconciled concurrently.
const nodeWorkers = 8

// Kind returns the registration of NodePool.
func Kind() kit.Registration {
	return kit.Registration{
		Name:        "nodepool",
		Layer:       kit.Machines,
		CRDs:        []string{"nodepools.nodes.lailin.xyz"},
		AddToScheme: addToScheme,
		Outside:     "commands of spec.onJoin, spec.onLeave and spec.remediation that other users set do not run, because the API server records the user of this kubeconfig as their requester",
		Peers: map[string]client.Object{
			activitiesCRD:  &egov1.Activity{},
			configsCRD:     &mcfgv1.MachineConfig{},
			configPoolsCRD: &mcfgv1.MachineConfigPool{},
		},
		Cache: cached,
		Setup: setup,
	}
}

func cached() map[client.Object]cache.ByObject {
	out := firewall.Cache()
	out[&nodesv1.NodePool{}] = cache.ByObject{}
	out[&corev1.Node{}] = cache.ByObject{}
	// All RuntimeClasses are watched, not only those of opcrew. There are few of them. If another owner has a RuntimeClass
	// with the name of a NodePool, the NodePool must notice when that RuntimeClass is deleted.
	out[&nodev1.RuntimeClass{}] = cache.ByObject{}
	return out
}

func addToScheme(scheme *runtime.Scheme) error {
	if err := nodesv1.AddToScheme(scheme); err != nil {
		return err
	}
	if err := egov1.AddToScheme(scheme); err != nil {
		return err
	}
	return mcfgv1.AddToScheme(scheme)
}

func setup(mgr ctrl.Manager, tools *kit.Tools) error {
	refused := refusals.New()
	gauges, err := newGauges(tools.Registry)
	if err != nil {
		return err
	}
	if err := indexNodes(mgr); err != nil {
		return err
	}
	if err := indexActivities(mgr, tools); err != nil {
		return err
	}
	if err := setupNodes(mgr, tools, refused); err != nil {
		return fmt.Errorf("set up the node controller: %w", err)
	}
	read, err := reading.Setup(mgr, tools.Clock)
	if err != nil {
		return err
	}
	scout := &remediation.Scout{Cached: tools.Client, Live: tools.Live, Clock: tools.Clock}
	if err := setupPools(mgr, &poolReconciler{tools, refused, read, scout}, gauges); err != nil {
		return fmt.Errorf("set up the pool controller: %w", err)
	}
	undelivered := func(why string, pools []string) { refused.Set(ofFirewall, why, pools) }
	if err := firewall.Setup(mgr, tools, undelivered); err != nil {
		return fmt.Errorf("set up the firewall controller: %w", err)
	}
	return nil
}

func setupNodes(mgr ctrl.Manager, tools *kit.Tools, refused *refusals.Refusals) error {
	loop := &kit.Loop[*corev1.Node, nodeFacts, nodeDecision]{
		Tools: tools,
		New:   func() *corev1.Node { return &corev1.Node{} },
		Kind:  &nodeReconciler{tools},
		After: func(node *corev1.Node, facts nodeFacts, _ nodeDecision, done kit.Outcome) {
			refused.Set(node.Name, whyNot(done), concerned(node, facts.pools))
		},
		Forget: []func(client.ObjectKey){func(key client.ObjectKey) { refused.Set(key.Name, "", nil) }},
	}
	nodes := ctrl.NewControllerManagedBy(mgr)
	watchActivities(nodes, tools, nodeOfActivity)
	return nodes.
		Named("nodepool-node").
		For(&corev1.Node{}, builder.WithPredicates(nodeChanged())).
		Watches(&nodesv1.NodePool{}, nodesOfPool(mgr.GetClient())).
		Watches(&nodev1.RuntimeClass{}, handler.EnqueueRequestsFromMapFunc(nodesOfClass(mgr.GetClient()))).
		WithOptions(loop.Options(nodeWorkers)).
		Complete(loop)
}

func setupPools(mgr ctrl.Manager, r *poolReconciler, gauges *gauges) error {
	loop := &kit.Loop[*nodesv1.NodePool, facts, decision]{
		Tools:       r.Tools,
		New:         func() *nodesv1.NodePool { return &nodesv1.NodePool{} },
		Kind:        r,
		Transitions: r.transitions,
		Records:     remediation.Records,
		After: func(pool *nodesv1.NodePool, f facts, _ decision, _ kit.Outcome) {
			gauges.observe(pool.Name, f.nodes)
			gauges.observeSteps(pool.Name, pipelineStatus(f.steps.runs))
		},
		Forget: []func(client.ObjectKey){func(key client.ObjectKey) { gauges.forget(key.Name); r.scout.Forget(key.Name) }},
	}
	pools := ctrl.NewControllerManagedBy(mgr)
	if r.Installed[configPoolsCRD] {
		pools.Watches(&mcfgv1.MachineConfigPool{}, handler.EnqueueRequestsFromMapFunc(sameName))
	}
	watchActivities(pools, r.Tools, poolOfActivity)
	return pools.
		Named("nodepool").
		For(&nodesv1.NodePool{}).
		Watches(&nodev1.RuntimeClass{}, handler.EnqueueRequestsFromMapFunc(sameName)).
		Watches(&corev1.Node{}, poolsOfNode(mgr.GetClient()), builder.WithPredicates(nodeChanged())).
		Watches(&nodesv1.NodePool{}, otherPools(mgr.GetClient())).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(poolOfRules)).
		WatchesRawSource(source.Channel(r.refusals.Woken(), &handler.TypedEnqueueRequestForObject[*nodesv1.NodePool]{})).
		WatchesRawSource(source.Channel(r.machines.Woken(), &handler.TypedEnqueueRequestForObject[*nodesv1.NodePool]{})).
		WithOptions(loop.Options(1)).
		Complete(loop)
}

// whyNot returns why the patch of a node was not applied; empty if the patch was applied.
func whyNot(done kit.Outcome) string {
	switch {
	case done.Err != nil:
		return done.Err.Error()
	case done.Contested != "":
		return done.Contested
	case done.Paused && done.Held > 0:
		return "the annotation " + common.PausedAnnotation + " on the node pauses changes"
	}
	return ""
}

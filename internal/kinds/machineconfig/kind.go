// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machineconfig reconciles MachineConfigPools and the nodes that they select. The reconciler of pools (observe.go,
// plan.go, status.go) renders the MachineConfigs of a pool, delivers the result in a Secret, and reports. The reconciler
// of nodes (node.go) is the only writer of Nodes: it gives orders to machine agents, cordons and drains. Both ask
// package rollout what to do next. docs/design/machineconfig.md explains the protocol.
package machineconfig

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/installation"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Read MachineConfigs, and create and delete those that are rendered for a pool.
// +kubebuilder:rbac:groups=machineconfiguration.openshift.io,resources=machineconfigs,verbs=get;list;watch;create;patch;delete
// Read MachineConfigPools, and write the rendered configuration into their spec. Create and delete the MachineConfigPool
// of a NodePool with spec.machineConfigSelector.
// +kubebuilder:rbac:groups=machineconfiguration.openshift.io,resources=machineconfigpools,verbs=get;list;watch;create;patch;delete
// Write the status of MachineConfigPools.
// +kubebuilder:rbac:groups=machineconfiguration.openshift.io,resources=machineconfigpools/status,verbs=patch
// Set owner references on rendered MachineConfigs that block the deletion of their pool until they are gone.
// +kubebuilder:rbac:groups=machineconfiguration.openshift.io,resources=machineconfigpools/finalizers,verbs=update
// Give orders to machine agents in annotations of nodes, cordon nodes, and set two taints.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch;patch
// Deliver configurations to machine agents, in a namespace of their own.
// +kubebuilder:rbac:groups="",namespace=opcrew-machines,resources=secrets,verbs=get;list;watch;create;patch;delete
// Keep the keys for hashes of secret data, in a namespace in which machine agents have no rights.
// +kubebuilder:rbac:groups="",namespace=opcrew-machine-keys,resources=secrets,verbs=get;list;watch;create;patch;delete
// Read the Secrets that MachineConfigs name, in namespaces where an administrator binds this role.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,roleName=opcrew-machine-secrets
// Find the pods of a node that is drained, and the pods of etcd.
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// Evict the pods of a node before it changes.
// +kubebuilder:rbac:groups="",resources=pods/eviction,verbs=create
// Find out which PodDisruptionBudgets forbid an eviction.
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=list
// Read the lock of kured, so that two tools do not reboot nodes at the same time.
// +kubebuilder:rbac:groups=apps,resources=daemonsets,resourceNames=kured,verbs=get
// Check whether the requester of a MachineConfig may configure the machines of a pool, and read the Secrets that it names.
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// Find the Activities of fleets and NodePools, on whose nodes no update begins.
// +kubebuilder:rbac:groups=ego.example.com,resources=activities,verbs=get;list;watch
// Find out whether Activity is installed, and notice when it gets installed.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=activities.ego.example.com,verbs=get;list;watch
// Check whether the admission policy that records requesters is in force.
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,resourceNames=opcrew-machineconfig-rights,verbs=get

// Kind returns the registration of MachineConfig and MachineConfigPool. On OpenShift, the CRDs belong to its own
// operator, so opcrew does not serve them there.
func Kind() kit.Registration {
	return kit.Registration{
		Name:  "machineconfig",
		Layer: kit.Machines,
		CRDs: []string{
			"machineconfigs.machineconfiguration.openshift.io",
			"machineconfigpools.machineconfiguration.openshift.io",
		},
		OptIn:       true,
		Outside:     "nodes get no configurations, because only the account of the deployed operator may write them into pools",
		AddToScheme: addToScheme,
		Peers:       map[string]client.Object{activitiesCRD: &egov1.Activity{}},
		Cache:       cached,
		Setup:       setup,
	}
}

func cached() map[client.Object]cache.ByObject {
	secrets, pods := kit.Ours(), kit.Ours()
	secrets.Namespaces = map[string]cache.Config{machineorder.Namespace: {}, keyNamespace: {}}
	pods.Namespaces = map[string]cache.Config{machineorder.Namespace: {}}
	return map[client.Object]cache.ByObject{
		&mcfgv1.MachineConfig{}:     {},
		&mcfgv1.MachineConfigPool{}: {},
		&corev1.Node{}:              {},
		&corev1.Secret{}:            secrets,
		&corev1.Pod{}:               pods,
	}
}

func setup(mgr ctrl.Manager, tools *kit.Tools) error {
	shared := &shared{Tools: tools, configs: newConfigs(mgr.GetClient())}
	if err := indexActivities(mgr, tools); err != nil {
		return err
	}
	if err := setupNodes(mgr, shared); err != nil {
		return fmt.Errorf("set up the node controller: %w", err)
	}
	gauges, err := newGauges(tools.Registry)
	if err != nil {
		return err
	}
	if err := setupPools(mgr, shared, gauges); err != nil {
		return fmt.Errorf("set up the pool controller: %w", err)
	}
	if err := installation.Setup(mgr, tools); err != nil {
		return fmt.Errorf("set up the controller of machine agents: %w", err)
	}
	return nil
}

// setupNodes uses one worker: an order counts in the budgets of those after it, so they are given one after the other.
func setupNodes(mgr ctrl.Manager, shared *shared) error {
	r := &nodeReconciler{shared}
	loop := &kit.Loop[*corev1.Node, nodeFacts, nodeDecision]{
		Tools:  shared.Tools,
		New:    func() *corev1.Node { return &corev1.Node{} },
		Kind:   r,
		After:  r.after,
		Forget: []func(client.ObjectKey){shared.forget},
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("machineconfig-node").
		For(&corev1.Node{}, builder.WithPredicates(nodeChanged())).
		Watches(&mcfgv1.MachineConfigPool{}, nodesOfPool(mgr.GetClient())).
		WatchesRawSource(shared.nodes.source()).
		WithOptions(loop.Options(1)).
		Complete(loop)
}

func setupPools(mgr ctrl.Manager, shared *shared, gauges *gauges) error {
	r := &poolReconciler{shared: shared, gauges: gauges}
	loop := &kit.Loop[*mcfgv1.MachineConfigPool, facts, decision]{
		Tools:   shared.Tools,
		New:     func() *mcfgv1.MachineConfigPool { return &mcfgv1.MachineConfigPool{} },
		Kind:    r,
		Records: recorded,
		After:   r.after,
		Forget:  []func(client.ObjectKey){r.forgetPool},
	}
	pools := ctrl.NewControllerManagedBy(mgr)
	watchActivities(pools, shared.Tools)
	return pools.
		Named("machineconfig").
		For(&mcfgv1.MachineConfigPool{}).
		Watches(&mcfgv1.MachineConfig{}, poolsSoon(mgr.GetClient())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(poolOfConfig)).
		Watches(&corev1.Node{}, poolsSoon(mgr.GetClient()), builder.WithPredicates(nodeChanged())).
		Watches(&mcfgv1.MachineConfigPool{}, otherPools(mgr.GetClient())).
		WatchesRawSource(shared.pools.source()).
		WithOptions(loop.Options(1)).
		Complete(loop)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machineagents plays the machine agents of all simulated nodes. It writes the annotations that
// internal/agents/machine writes, and changes no host.
package machineagents

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// pause is the time between two looks at all nodes.
const pause = 50 * time.Millisecond

// Trouble returns what goes wrong with a configuration on a node; empty if nothing does.
type Trouble func(node string, config hostconfig.Config) string

// Agents are the machine agents of all nodes of a cluster.
type Agents struct {
	t      testing.TB
	client client.Client
	// configs are the configurations that were read, by name. Only turn uses them.
	configs map[string]hostconfig.Config

	mutex          sync.Mutex
	refuses, fails Trouble
	mostBusy       int
	drained        []string
}

// Follow plays the machine agents until the test ends.
func Follow(t testing.TB, c client.Client) *Agents {
	t.Helper()
	a := &Agents{t: t, client: c, configs: map[string]hostconfig.Config{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			a.install(ctx)
			a.turn(ctx)
			time.Sleep(pause)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return a
}

// install completes the pods that install machine agents, and remove them.
func (a *Agents) install(ctx context.Context) {
	list := &corev1.PodList{}
	if err := a.client.List(ctx, list, client.InNamespace(machineorder.Namespace)); err != nil {
		return
	}
	for i := range list.Items {
		if list.Items[i].Status.Phase != corev1.PodSucceeded {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`))
			_ = a.client.Status().Patch(ctx, &list.Items[i], patch) // tried again
		}
	}
}

// Hinder sets which configurations hosts cannot have, and which they cannot apply.
func (a *Agents) Hinder(refuses, fails Trouble) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.refuses, a.fails = refuses, fails
}

// MostBusy returns the largest number of nodes that were at work at the same time.
func (a *Agents) MostBusy() int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.mostBusy
}

// Drained returns the nodes that carried out an order after a drain, in their order.
func (a *Agents) Drained() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return append([]string(nil), a.drained...)
}

// turn lets each agent take a step. It reads the nodes from the cache of the API server, because it reads them often. A
// client with a cache of its own returns shared objects, which nothing here changes.
func (a *Agents) turn(ctx context.Context) {
	list := &corev1.NodeList{}
	if err := a.client.List(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	busy := 0
	for i := range list.Items {
		if a.act(ctx, &list.Items[i]) {
			busy++
		}
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.mostBusy = max(a.mostBusy, busy)
}

// act takes the next step of one agent. It reports whether the node is at work.
func (a *Agents) act(ctx context.Context, node *corev1.Node) bool {
	order, err := machineorder.ParseOrder(node.Annotations[machineorder.OrderAnnotation])
	if err != nil {
		return false
	}
	report, _ := machineorder.ParseReport(node.Annotations[machineorder.ReportAnnotation])
	if report.Config == order.Config && report.Phase != machineorder.PhaseDrain {
		return node.Spec.Unschedulable
	}
	if config, found := a.read(ctx, order); found {
		a.carryOut(ctx, node, order, config)
	}
	return true
}

// read returns the configuration that an order names. An agent keeps what it has read, and waits for a Secret that does
// not exist.
func (a *Agents) read(ctx context.Context, order machineorder.Order) (hostconfig.Config, bool) {
	if config, found := a.configs[order.Config]; found {
		return config, true
	}
	secret := &corev1.Secret{}
	if err := a.client.Get(ctx, client.ObjectKey{Namespace: machineorder.Namespace, Name: order.Config}, secret); err != nil {
		return hostconfig.Config{}, order.Config == machineorder.None
	}
	encoded := secret.Data[machineorder.SecretKey]
	config, err := hostconfig.Parse(encoded)
	if err != nil || hostconfig.Digest(encoded) != order.Digest {
		a.t.Errorf("expected configuration %s with digest %s, got %v", order.Config, order.Digest, err)
	}
	a.configs[order.Config] = config
	return config, true
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// agents play the machine agents of all nodes. They write the annotations that internal/agents/machine writes.
type agents struct {
	t *testing.T
	// refuses returns why a host cannot have a configuration, and fails why it cannot apply one; empty if it can.
	mutex          sync.Mutex
	refuses, fails func(node string, config hostconfig.Config) string
	// busy are the nodes that were at work at the same time, the largest number of them.
	mostBusy int
	// drained are the nodes that carried out an order after a drain, in their order.
	drained []string
}

// startAgents plays the machine agents until the test ends.
func startAgents(t *testing.T) *agents {
	t.Helper()
	a := &agents{t: t}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			installs(ctx)
			a.turn(ctx)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return a
}

// installs completes the pods that install machine agents, and remove them.
func installs(ctx context.Context) {
	list := &corev1.PodList{}
	if err := env.Client.List(ctx, list, client.InNamespace(machineorder.Namespace)); err != nil {
		return
	}
	for i := range list.Items {
		if list.Items[i].Status.Phase != corev1.PodSucceeded {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`))
			_ = env.Client.Status().Patch(ctx, &list.Items[i], patch) // tried again
		}
	}
}

// hinder sets what goes wrong on hosts.
func (a *agents) hinder(refuses, fails func(string, hostconfig.Config) string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.refuses, a.fails = refuses, fails
}

func (a *agents) turn(ctx context.Context) {
	list := &corev1.NodeList{}
	if err := env.Client.List(ctx, list); err != nil {
		return
	}
	busy := 0
	for i := range list.Items {
		if a.act(ctx, &list.Items[i]) {
			busy++
		}
	}
	a.mutex.Lock()
	a.mostBusy = max(a.mostBusy, busy)
	a.mutex.Unlock()
}

// act takes the next step of one agent. It reports whether the node is at work.
func (a *agents) act(ctx context.Context, node *corev1.Node) bool {
	order, err := machineorder.ParseOrder(node.Annotations[machineorder.OrderAnnotation])
	if err != nil {
		return false
	}
	report, _ := machineorder.ParseReport(node.Annotations[machineorder.ReportAnnotation])
	settled := report.Config == order.Config && report.Phase != machineorder.PhaseDrain
	if settled {
		return node.Spec.Unschedulable
	}
	config := a.read(ctx, order)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	asked := node.Annotations[machineorder.DesiredDrain]
	switch {
	case a.refuses != nil && a.refuses(node.Name, config) != "":
		a.write(ctx, node, report4(order, machineorder.PhaseRefused, a.refuses(node.Name, config)), machineorder.StateUnreconcilable, nil)
	case order.Drains() && (asked != machineorder.Drain(order.Config) || node.Annotations[machineorder.LastAppliedDrain] != asked):
		a.write(ctx, node, report4(order, machineorder.PhaseDrain, ""), machineorder.StateWorking,
			map[string]string{machineorder.DesiredDrain: machineorder.Drain(order.Config)})
	case a.fails != nil && a.fails(node.Name, config) != "":
		a.write(ctx, node, report4(order, machineorder.PhaseFailed, a.fails(node.Name, config)), machineorder.StateDegraded, nil)
	default:
		more := map[string]string{machineorder.CurrentConfig: order.Config}
		if strings.HasPrefix(asked, machineorder.DrainPrefix) {
			more[machineorder.DesiredDrain] = machineorder.Uncordon(order.Config)
			a.drained = append(a.drained, node.Name)
		}
		a.write(ctx, node, report4(order, machineorder.PhaseDone, ""), machineorder.StateDone, more)
	}
	return true
}

func (a *agents) read(ctx context.Context, order machineorder.Order) hostconfig.Config {
	secret := &corev1.Secret{}
	if err := env.Client.Get(ctx, client.ObjectKey{Namespace: machineorder.Namespace, Name: order.Config}, secret); err != nil {
		return hostconfig.Config{}
	}
	encoded := secret.Data[machineorder.SecretKey]
	config, err := hostconfig.Parse(encoded)
	if err != nil || hostconfig.Digest(encoded) != order.Digest {
		a.t.Errorf("expected configuration %s with digest %s, got %v", order.Config, order.Digest, err)
	}
	return config
}

func report4(order machineorder.Order, phase machineorder.Phase, message string) machineorder.Report {
	return machineorder.Report{Config: order.Config, Phase: phase, Message: message}
}

// write writes annotations if the order has not changed meanwhile, as a machine agent does.
func (a *agents) write(ctx context.Context, node *corev1.Node, report machineorder.Report, state string, more map[string]string) {
	text, err := machineorder.EncodeReport(report)
	if err != nil {
		a.t.Error(err)
	}
	all := map[string]string{machineorder.State: state, machineorder.ReportAnnotation: text}
	maps.Copy(all, more)
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": all, "resourceVersion": node.ResourceVersion}})
	_ = env.Client.Patch(ctx, node.DeepCopy(), client.RawPatch(types.MergePatchType, patch)) // a conflict is tried again
}

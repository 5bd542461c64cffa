// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package firewallagents plays the firewall agents of all simulated nodes. It writes the reports that
// internal/agents/firewall writes, and changes no kernel.
package firewallagents

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/agents/firewall"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// pause is the time between two looks at all nodes.
const pause = 100 * time.Millisecond

// Agents are the agents of all nodes of a cluster.
type Agents struct {
	client client.Client

	mutex   sync.Mutex
	refuses map[string]string // why a node refuses rules that it does not have
	absent  map[string]bool
}

// Follow plays the agents until the test ends.
func Follow(t testing.TB, c client.Client) *Agents {
	t.Helper()
	a := &Agents{client: c, refuses: map[string]string{}, absent: map[string]bool{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			a.turn(ctx)
			time.Sleep(pause)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return a
}

// Refuse makes a node revert rules that it does not have yet; "" ends that.
func (a *Agents) Refuse(node, reason string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.refuses[node] = reason
}

// Absent makes the agent of a node silent.
func (a *Agents) Absent(node string, absent bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.absent[node] = absent
}

func (a *Agents) turn(ctx context.Context) {
	maps, nodes := &corev1.ConfigMapList{}, &corev1.NodeList{}
	if a.client.List(ctx, maps, client.InNamespace(nodefirewall.Namespace), client.HasLabels{nodefirewall.Label}) != nil || a.client.List(ctx, nodes) != nil {
		return // tried again
	}
	pools := map[string]string{}
	for _, m := range maps.Items {
		if m.Name != nodefirewall.NodesMap {
			pools[m.Name] = m.Data[nodefirewall.Key]
		}
	}
	for i := range nodes.Items {
		a.report(ctx, &nodes.Items[i], pools)
	}
}

func (a *Agents) report(ctx context.Context, node *corev1.Node, pools map[string]string) {
	a.mutex.Lock()
	refuses, absent := a.refuses[node.Name], a.absent[node.Name]
	a.mutex.Unlock()
	rules, err := firewall.Select(node.Name, pools, "")
	if err != nil || absent {
		return
	}
	text := reportOf(node.Annotations[nodefirewall.ReportAnnotation], rules.Pools, refuses)
	if text == node.Annotations[nodefirewall.ReportAnnotation] {
		return
	}
	value := &text
	if text == "" {
		value = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]*string{nodefirewall.ReportAnnotation: value}}})
	if err == nil {
		_ = a.client.Patch(ctx, node, client.RawPatch(types.MergePatchType, patch)) // tried again
	}
}

// reportOf returns the report of a node with some rules, and with an earlier report.
func reportOf(before string, pools map[string]string, refuses string) string {
	earlier, _ := nodefirewall.ParseReport(before)
	out := nodefirewall.Report{Active: map[string]string{}}
	for pool, text := range pools {
		revision := nodefirewall.Revision(text)
		if refuses != "" && earlier.Active[pool] != revision {
			out.Refused, out.Message = map[string]string{pool: revision}, refuses
			revision = earlier.Active[pool]
		}
		if revision != "" {
			out.Active[pool] = revision
		}
		if p, err := nodefirewall.ParsePool(text); err == nil && p.OpenHost {
			out.Others, out.HostPools = []string{"ufw"}, append(out.HostPools, pool)
			out.Opened = map[string]string{pool: revision}
		}
	}
	if len(out.Active) == 0 && out.Message == "" {
		return ""
	}
	text, _ := nodefirewall.EncodeReport(out)
	return text
}

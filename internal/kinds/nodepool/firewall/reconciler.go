// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// reconciler writes what the agents need. Its object is their ServiceAccount, which is installed with opcrew, so that the
// objects of all pools have one owner.
type reconciler struct {
	*kit.Tools
	// apiServers has the port of the API server, by the name of its Service.
	apiServers kit.Memory[string, readPort]
}

// readPort is a port, and when it was read.
type readPort struct {
	port uint16
	at   time.Time
}

// portAge is how old the port may be: reports of agents cause many reconciles, and the port hardly ever changes.
const portAge = 10 * time.Minute

// decision has the documents for the agents.
type decision struct {
	agents bool
	// hostAgents is set if agents must also change firewalld or ufw.
	hostAgents bool
	// documents by the names of their ConfigMaps. A frozen pool keeps the one that it has.
	documents map[string]string
	frozen    map[string]bool
	// stale is set if a ConfigMap must be deleted. That comes before all writes of agents, so that ports are opened
	// again even if the API server refuses the DaemonSet.
	stale bool
}

// Observe reads all pools, nodes and documents from the cache.
func (r *reconciler) Observe(ctx context.Context, _ *corev1.ServiceAccount) (World, error) {
	w, err := Read(ctx, r.Client)
	if err != nil {
		return w, err
	}
	list := &corev1.ConfigMapList{}
	err = r.Client.List(ctx, list, client.InNamespace(nodefirewall.Namespace), client.HasLabels{nodefirewall.Label}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return w, fmt.Errorf("list the ConfigMaps of firewall agents: %w", err)
	}
	for i := range list.Items {
		w.documents = append(w.documents, list.Items[i].Name)
	}
	if w.needsAgents() {
		w.apiServer, err = r.apiServerPort(ctx)
	}
	return w, err
}

// apiServerPort returns the port on which the API server listens. A node that runs it must keep it open for all other
// nodes, and the trial on that node would not notice that it is closed.
func (r *reconciler) apiServerPort(ctx context.Context) (uint16, error) {
	service := &corev1.Service{}
	key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}
	if known := r.apiServers.Get(key.Name); known.port != 0 && r.Clock.Since(known.at) < portAge {
		return known.port, nil
	}
	if err := r.Live.Get(ctx, key, service); err != nil {
		return 0, fmt.Errorf("read the port of the API server from Service %s: %w", key, err)
	}
	port := securePort(service)
	r.apiServers.Set(key.Name, readPort{port, r.Clock.Now()})
	return port, nil
}

// securePort returns the port on which the API server listens, as its Service shows it; 0 if it does not.
func securePort(service *corev1.Service) uint16 {
	for _, p := range service.Spec.Ports {
		if p.Name == "https" {
			return uint16(p.TargetPort.IntValue())
		}
	}
	return 0
}

// Read reads all pools and nodes.
func Read(ctx context.Context, reader client.Reader) (World, error) {
	pools, nodes := &nodesv1.NodePoolList{}, &corev1.NodeList{}
	if err := reader.List(ctx, pools, client.UnsafeDisableDeepCopy); err != nil {
		return World{}, fmt.Errorf("list NodePools: %w", err)
	}
	if err := reader.List(ctx, nodes, client.UnsafeDisableDeepCopy); err != nil {
		return World{}, fmt.Errorf("list nodes: %w", err)
	}
	w := World{Nodes: nodes.Items}
	for i := range pools.Items {
		w.Pools = append(w.Pools, &pools.Items[i])
	}
	return w, nil
}

// Decide computes the documents. Agents run while a pool has a firewall, or a node still reports rules of one.
func (r *reconciler) Decide(_ *corev1.ServiceAccount, w World, _ time.Time) decision {
	return decide(w)
}

func decide(w World) decision {
	d := decision{documents: map[string]string{}, frozen: map[string]bool{}}
	for _, pool := range w.Pools {
		name := nodefirewall.PoolMap(pool.Name)
		switch {
		case nodestate.Paused(pool) || nodestate.DryRun(pool) && pool.DeletionTimestamp == nil:
			d.frozen[name] = true
			d.agents = d.agents || pool.Spec.Firewall != nil
		case pool.Spec.Firewall != nil && pool.DeletionTimestamp == nil:
			d.agents = true
			text, err := nodefirewall.Encode(w.Rules(pool))
			if d.documents[name] = text; err != nil {
				delete(d.documents, name)
				d.frozen[name] = true // the status says that the rules are too large; the previous ones stay
			}
		}
	}
	d.agents, d.hostAgents = d.agents || w.reported(), w.needsHostAgents()
	if text, err := nodefirewall.Encode(w.addresses()); d.agents && err == nil {
		d.documents[nodefirewall.NodesMap] = text
	}
	d.frozen[nodefirewall.NodesMap] = d.agents // if the addresses do not fit, agents keep the previous ones
	d.stale = slices.ContainsFunc(w.documents, func(name string) bool {
		_, declared := d.documents[name]
		return !declared && !d.frozen[name]
	})
	return d
}

// needsAgents reports whether agents must run, because a pool has a firewall or a node still has rules.
func (w World) needsAgents() bool {
	return w.reported() || slices.ContainsFunc(w.Pools, func(p *nodesv1.NodePool) bool { return p.Spec.Firewall != nil })
}

// reported reports whether an agent still reports rules on a node.
func (w World) reported() bool {
	for i := range w.Nodes {
		if w.Nodes[i].Annotations[nodefirewall.ReportAnnotation] != "" {
			return true
		}
	}
	return false
}

func opensHost(pool *nodesv1.NodePool) bool {
	return pool.Spec.Firewall != nil && pool.Spec.Firewall.HostFirewall == nodesv1.HostFirewallOpen
}

// needsHostAgents reports whether a pool opens firewalld or ufw, or they may still have rules of opcrew on a node.
func (w World) needsHostAgents() bool {
	return slices.ContainsFunc(w.Pools, opensHost) || slices.ContainsFunc(w.Nodes, func(node corev1.Node) bool {
		report, err := nodefirewall.ParseReport(node.Annotations[nodefirewall.ReportAnnotation])
		return err == nil && len(report.HostPools) > 0
	})
}

// Plan declares the ConfigMaps before the agents. The agents are deleted last, when no node has rules any more.
func (r *reconciler) Plan(account *corev1.ServiceAccount, _ World, d decision) kit.Plan {
	plan := kit.Plan{
		Prune: []client.ObjectList{&corev1.ConfigMapList{}, &appsv1.DaemonSetList{}},
		Stays: func(object client.Object) bool {
			_, agents := object.(*appsv1.DaemonSet)
			return agents && d.stale || d.frozen[object.GetName()]
		},
	}
	if account.DeletionTimestamp != nil {
		return kit.Plan{}
	}
	for _, name := range sortedKeys(d.documents) {
		plan.Children = append(plan.Children, ensure.Child{Object: document(name, d.documents[name])})
	}
	if d.agents && !d.stale {
		plan.Children = append(plan.Children, ensure.Child{
			Object: daemonSet(r.AgentImage), Security: guard.NodeAgent, Trust: guard.Trust{All: true},
		})
	}
	if d.hostAgents && !d.stale {
		plan.Children = append(plan.Children, ensure.Child{
			Object: hostDaemonSet(r.AgentImage), Security: guard.HostCommand, Trust: guard.Trust{All: true},
		})
	}
	return plan
}

// obstacle returns why the rules could not be delivered; "" if they were, or if the loop tries again by itself.
func obstacle(done kit.Outcome) string {
	if done.Err != nil && !ensure.Outdated(done.Err) {
		return done.Err.Error()
	}
	const kind = "Delivered"
	var scratch []metav1.Condition
	done.ReportChildren(condition.Set{Conditions: &scratch, Now: done.Now}, kind)
	if c := meta.FindStatusCondition(scratch, kind); c != nil && c.Status == metav1.ConditionFalse {
		return c.Message
	}
	return ""
}

// concerned returns the names of the pools whose status shows an obstacle.
func (w World) concerned() []string {
	var out []string
	for _, pool := range w.Pools {
		if pool.Spec.Firewall != nil {
			out = append(out, pool.Name)
		}
	}
	return out
}

// Report does nothing: the status of each NodePool shows what its nodes report.
func (r *reconciler) Report(*corev1.ServiceAccount, World, decision, kit.Outcome) {}

// PoolOf returns the name of the pool whose rules a ConfigMap has.
func PoolOf(object client.Object) (string, bool) {
	if object.GetNamespace() != nodefirewall.Namespace {
		return "", false
	}
	return strings.CutPrefix(object.GetName(), nodefirewall.PoolMap(""))
}

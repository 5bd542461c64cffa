// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/firewallagents"
)

// hostKinds are the kinds that run commands on hosts.
const hostKinds = "nodepool,activity"

// installHosts installs what commands on hosts need, and waits until the API server records who requests them.
func installHosts(t *testing.T) {
	t.Helper()
	for _, file := range []string{
		"activity_namespace", "activity_requester", "activity_rights", "nodepool_joining", "nodepool_requester", "nodepool_rights",
		"firewall_namespace", "firewall_agent", "nodepool_hostfirewall",
	} {
		env.Apply(t, "config/cluster/"+file+".yaml")
	}
	awaitRequesters(t, func(int) *egov1.Activity {
		a := &egov1.Activity{Spec: egov1.ActivitySpec{Command: "true", Host: "trial"}}
		a.Namespace, a.Name = "default", "trial"
		return a
	})
}

// hostRun is a benchmark run of opcrew with nodes of one role.
type hostRun struct {
	*process
	t     *testing.T
	tb    *table
	hosts []string
}

func newHostRun(t *testing.T, title, role string, count int) *hostRun {
	t.Helper()
	installHosts(t)
	r := &hostRun{t: t, tb: newTable(title, count)}
	r.hosts = env.Nodes(t, count, testenv.NodeSpec{Prefix: role, Labels: map[string]string{nodesv1.RolePrefix + role: ""}})
	r.process = opcrewOnly(t).startAs(t, "opcrew-machines", hostKinds)
	r.calm(t, time.Second)
	return r
}

// measure makes a change, waits until it is done on every host, and checks the number of writes for a host.
func (r *hostRun) measure(what string, most float64, change func() error, done func() error) {
	r.t.Helper()
	begin, took := time.Now(), time.Duration(0)
	got := r.during(r.t, func() {
		if err := change(); err != nil {
			r.t.Fatal(err)
		}
		eventually.True(r.t, *limit, what, done)
		took = time.Since(begin)
		r.calm(r.t, 2*time.Second)
	})
	count := float64(len(r.hosts))
	each := float64(got.writes()) / count
	r.tb.set(what+": time", r.name, "%.1f s", took.Seconds())
	r.tb.set(what+": writes a host", r.name, "%.2f", each)
	r.tb.set(what+": reads, reconciles a host; processor time", r.name, "%.1f, %.1f; %.1f s", float64(got.reads())/count, float64(got.reconciles)/count, got.cpu.Seconds())
	if each > most {
		r.t.Errorf("%s: expected at most %.2f writes a host, got %.2f: %v", what, most, each, got.calls.Tally())
	}
}

// end measures the costs at rest. Fleets look at their hosts again after some time without an event.
func (r *hostRun) end(asleep bool) {
	r.resting(r.t, r.tb, "a heartbeat of every node", asleep, func() { env.Heartbeat(r.t, r.hosts...) })
	r.restarted(r.t, r.tb)
	r.tb.print()
	r.stop(r.t)
}

func TestAFleetCostsSevenWritesAHostAtMost(t *testing.T) {
	r := newHostRun(t, "Activity: a fleet of %d hosts, 10 %% at a time", "fleet", *objects)
	a := &egov1.Activity{Spec: egov1.ActivitySpec{Command: "true", Hosts: &egov1.Hosts{NodeSelector: map[string]egov1.NodeLabel{nodesv1.RolePrefix + "fleet": ""}}}}
	a.Namespace, a.Name = "default", "fleet"
	a.Spec.Hosts.MaxUnavailable = new(intstr.FromString("10%"))
	r.measure("the command succeeds on every host", writesARun, func() error { return env.Client.Create(t.Context(), a) }, func() error {
		err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(a), a)
		if f := a.Status.Fleet; err != nil || f == nil || int(f.Succeeded) != len(r.hosts) {
			return fmt.Errorf("the fleet is %s %+v %+v (%w)", a.Status.Prosta, f, a.Status.Conditions, errors.Join(err, errors.New("not done")))
		}
		return nil
	})
	r.end(false)
	if err := env.Client.Delete(t.Context(), a); err != nil {
		t.Error(err)
	}
}

// writesAJoin is the maximum number of writes for a node that joins a pool with a pipeline of one command: two for the
// node, the creation of the Activity, those of a run, and three for the deletion of the Activity with its pod.
const writesAJoin = writesARun + 6

func TestAJoinPipelineCostsThirteenWritesANodeAtMost(t *testing.T) {
	r := newHostRun(t, "NodePool: %d nodes join, with one command each", "joining", *objects)
	pool := &nodesv1.NodePool{}
	pool.Name = "prepared"
	pool.Spec.Labels = map[string]nodesv1.LabelValue{tier: "gold"}
	pool.Spec.OnJoin = &nodesv1.Pipeline{Steps: []nodesv1.Step{{Name: "prepare", Template: nodesv1.ActivityTemplate{Command: "true"}}}}
	pool.Spec.NodeSelector = map[string]nodesv1.LabelValue{"example.com/open": ""}
	if err := env.Client.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	r.calm(t, 2*time.Second)
	r.measure("all nodes have joined", writesAJoin, func() error { return r.label("example.com/open") }, func() error { return joined(t, pool, len(r.hosts)) })
	r.end(true)
	if err := env.Client.Delete(t.Context(), pool); err != nil {
		t.Error(err)
	}
}

// label sets a label on every host, which makes it a member of a pool.
func (r *hostRun) label(key string) error {
	for _, name := range r.hosts {
		node := &corev1.Node{}
		node.Name = name
		if err := env.Client.Patch(r.t.Context(), node, mergePatch(`{"metadata":{"labels":{%q:""}}}`, key)); err != nil {
			return err
		}
	}
	return nil
}

func joined(t *testing.T, pool *nodesv1.NodePool, count int) error {
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		return err
	}
	if ready := readyOf(pool); int(pool.Status.UpdatedNodes) != count || ready != "AsWanted" {
		return fmt.Errorf("%d of %d nodes are updated, and Ready is %s", pool.Status.UpdatedNodes, count, ready)
	}
	return nil
}

func readyOf(pool *nodesv1.NodePool) string {
	for _, c := range pool.Status.Conditions {
		if c.Type == nodesv1.NodePoolReady {
			return c.Reason
		}
	}
	return ""
}

// A firewall costs no write for each node, because the agents read two ConfigMaps. The status of the pool counts their
// reports while they come.
func TestAFirewallCostsAHundredWritesWhateverTheNumberOfNodes(t *testing.T) {
	r := newHostRun(t, "NodePool: a firewall on %d nodes", "walled", *objects)
	firewallagents.Follow(t, env.Client)
	pool := &nodesv1.NodePool{}
	pool.Name = "walled"
	if err := env.Client.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	r.calm(t, 2*time.Second)
	active := func(generation int64) func() error {
		return func() error {
			if err := joined(t, pool, len(r.hosts)); err != nil {
				return err
			}
			c := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolFirewallActive)
			if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration < generation {
				return fmt.Errorf("the rules are active on %+v, condition %+v", pool.Status.Firewall, c)
			}
			return nil
		}
	}
	change := func(firewall string) func() error {
		return func() error {
			return env.Client.Patch(t.Context(), pool, mergePatch(`{"spec":{"firewall":%s}}`, firewall))
		}
	}
	few := 100 / float64(len(r.hosts))
	r.measure("the rules are active on every node", few, change(`{"rules":[{"ports":[{"port":80}]}]}`), active(2))
	r.measure("changed rules are active on every node", few, change(`{"rules":[{"ports":[{"port":81}]}]}`), active(3))
	r.measure("firewalld and ufw are open, too", few, change(`{"hostFirewall":"Open"}`), active(4))
	r.end(true)
	if err := env.Client.Delete(t.Context(), pool); err != nil {
		t.Error(err)
	}
}

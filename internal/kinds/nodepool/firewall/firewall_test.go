// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

func walled(f nodesv1.Firewall) pooltest.PoolOption {
	return func(p *nodesv1.NodePool) { p.Spec.Firewall = &f }
}

func has(addresses ...string) pooltest.NodeOption {
	return func(n *corev1.Node) {
		for _, a := range addresses {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
		}
	}
}

func reports(r nodefirewall.Report) pooltest.NodeOption {
	text, err := nodefirewall.EncodeReport(r)
	if err != nil {
		panic(err)
	}
	return pooltest.HasAnnotation(nodefirewall.ReportAnnotation, text)
}

func worldOf(pools []*nodesv1.NodePool, nodes ...*corev1.Node) World {
	w := World{Pools: pools}
	for _, n := range nodes {
		w.Nodes = append(w.Nodes, *n)
	}
	return w
}

func TestSourcesBecomeTheAddressesOfTheirNodes(t *testing.T) {
	end := int32(90)
	pool := pooltest.Pool("gold", walled(nodesv1.Firewall{Rules: []nodesv1.FirewallRule{
		{Name: "web", From: []nodesv1.FirewallSource{{NodePool: "silver"}, {Node: "c"}, {CIDR: "192.0.2.0/24"}, {CIDR: "192.0.2.0/24"}},
			Ports: []nodesv1.FirewallPort{{Port: 80}, {Protocol: "UDP", Port: 80, EndPort: &end}}},
		{From: []nodesv1.FirewallSource{{NodePool: "empty"}}},
		{},
	}}))
	w := worldOf([]*nodesv1.NodePool{pool, pooltest.Pool("silver"), pooltest.Pool("empty")},
		pooltest.Node("a", pooltest.Role("gold"), has("10.0.0.1")),
		pooltest.Node("b", pooltest.Role("silver"), has("10.0.0.2", "fd00::2")),
		pooltest.Node("c", has("10.0.0.3", "no address")),
		pooltest.Node("d", pooltest.Role("silver"), pooltest.Role("gold"), has("10.0.0.4")))
	got := w.Rules(pool)
	want := "{gold [a d] true [{web false [10.0.0.2/32 10.0.0.3/32 10.0.0.4/32 192.0.2.0/24 fd00::2/128] [{TCP 80 80} {UDP 80 90}]} { false [] []} { true [] []}] false}"
	if text := fmt.Sprint(got); text != want {
		t.Errorf("expected\n%s\ngot\n%s", want, text)
	}
	pool.Spec.Firewall.DefaultPolicy = nodesv1.FirewallAllow
	if w.Rules(pool).Deny {
		t.Error("expected Allow not to deny")
	}
}

func TestAgentsRunWhileANodeHasRules(t *testing.T) {
	gold := pooltest.Pool("gold", walled(nodesv1.Firewall{}))
	leaving := pooltest.Pool("gold", walled(nodesv1.Firewall{}), pooltest.BeingDeleted)
	paused := pooltest.Pool("gold", walled(nodesv1.Firewall{}), pooltest.IsPaused())
	node, reporting := pooltest.Node("a", pooltest.Role("gold")), pooltest.Node("a", reports(nodefirewall.Report{Active: map[string]string{"gold": "1"}}))
	for name, test := range map[string]struct {
		world     World
		agents    bool
		documents string
	}{
		"no firewall":       {worldOf([]*nodesv1.NodePool{pooltest.Pool("gold")}, node), false, ""},
		"a firewall":        {worldOf([]*nodesv1.NodePool{gold}, node), true, "nodes pool-gold"},
		"a deleted pool":    {worldOf([]*nodesv1.NodePool{leaving}, node), false, ""},
		"its rules are on":  {worldOf([]*nodesv1.NodePool{leaving}, reporting), true, "nodes"},
		"the pool is gone":  {worldOf(nil, reporting), true, "nodes"},
		"the pool is fixed": {worldOf([]*nodesv1.NodePool{paused}, node), true, "nodes"},
	} {
		d := decide(test.world)
		if got := strings.Join(sortedKeys(d.documents), " "); d.agents != test.agents || got != test.documents {
			t.Errorf("%s: expected agents %v and %q, got %v and %q", name, test.agents, test.documents, d.agents, got)
		}
	}
}

func TestTheConditionNamesNodesWithoutTheRules(t *testing.T) {
	pool := pooltest.Pool("gold", walled(nodesv1.Firewall{}))
	revision := func(nodes ...*corev1.Node) string {
		text, _ := nodefirewall.Encode(worldOf([]*nodesv1.NodePool{pool}, nodes...).Rules(pool))
		return nodefirewall.Revision(text)
	}
	member := func(options ...pooltest.NodeOption) *corev1.Node {
		return pooltest.Node("a", append(options, pooltest.Role("gold"))...)
	}
	now := map[string]string{"gold": revision(member())}
	old := map[string]string{"gold": "old"}
	for name, test := range map[string]struct {
		node   *corev1.Node
		status metav1.ConditionStatus
		reason string
		words  string
		held   int
	}{
		"active":               {member(reports(nodefirewall.Report{Active: now})), metav1.ConditionTrue, nodesv1.ReasonRulesActive, "on 1 node", 1},
		"another firewall":     {member(reports(nodefirewall.Report{Active: now, Others: []string{"ufw"}})), metav1.ConditionTrue, nodesv1.ReasonRulesActive, "a (ufw)", 1},
		"no report":            {member(), metav1.ConditionFalse, nodesv1.ReasonRulesPending, "no report yet", 0},
		"not ready":            {member(pooltest.IsNotReady), metav1.ConditionFalse, nodesv1.ReasonRulesPending, "not ready", 0},
		"earlier rules":        {member(reports(nodefirewall.Report{Active: old})), metav1.ConditionFalse, nodesv1.ReasonRulesPending, "earlier rules", 1},
		"waits":                {member(reports(nodefirewall.Report{Message: "no memory"})), metav1.ConditionFalse, nodesv1.ReasonRulesPending, "no memory", 0},
		"reverted":             {member(reports(nodefirewall.Report{Active: old, Refused: now, Message: "cut off"})), metav1.ConditionFalse, nodesv1.ReasonRulesRefused, "a (cut off)", 1},
		"refused others":       {member(reports(nodefirewall.Report{Active: now, Refused: old, Message: "cut off"})), metav1.ConditionTrue, nodesv1.ReasonRulesActive, "", 1},
		"an unreadable report": {member(pooltest.HasAnnotation(nodefirewall.ReportAnnotation, "{")), metav1.ConditionFalse, nodesv1.ReasonRulesPending, "cannot be read", 0},
	} {
		w := worldOf([]*nodesv1.NodePool{pool}, test.node)
		var conditions []metav1.Condition
		w.Judge(pool, "").Report(condition.Set{Conditions: &conditions, Now: time.Now()})
		got := meta.FindStatusCondition(conditions, nodesv1.NodePoolFirewallActive)
		if got == nil || got.Status != test.status || got.Reason != test.reason || !strings.Contains(got.Message, test.words) {
			t.Errorf("%s: expected %s %s with %q, got %+v", name, test.status, test.reason, test.words, got)
		}
		if held := w.Held("gold"); held != test.held {
			t.Errorf("%s: expected %d nodes that hold the deletion, got %d", name, test.held, held)
		}
	}
}

func TestAPoolThatOpensTheHostWaitsForTheFirewallOfTheHost(t *testing.T) {
	pool := pooltest.Pool("gold", walled(nodesv1.Firewall{HostFirewall: nodesv1.HostFirewallOpen}))
	member := func(r nodefirewall.Report) *corev1.Node { return pooltest.Node("a", pooltest.Role("gold"), reports(r)) }
	text, _ := nodefirewall.Encode(worldOf([]*nodesv1.NodePool{pool}, member(nodefirewall.Report{})).Rules(pool))
	now := map[string]string{"gold": nodefirewall.Revision(text)}
	ufw := []string{"ufw"}
	for name, test := range map[string]struct {
		report nodefirewall.Report
		reason string
		words  string
	}{
		"no answer":           {nodefirewall.Report{Active: now, Others: ufw, HostPools: []string{"gold"}, HostMessage: "does not answer"}, nodesv1.ReasonRulesPending, "a (firewall of the host: does not answer)"},
		"earlier rules":       {nodefirewall.Report{Active: now, Others: ufw, HostPools: []string{"gold"}, Opened: map[string]string{"gold": "old"}}, nodesv1.ReasonRulesPending, "earlier rules"},
		"opened":              {nodefirewall.Report{Active: now, Others: ufw, HostPools: []string{"gold"}, Opened: now}, nodesv1.ReasonRulesActive, "another firewall has them as well on a (ufw)"},
		"no firewall to open": {nodefirewall.Report{Active: now, HostPools: []string{"gold"}, Opened: now}, nodesv1.ReasonRulesActive, "active on 1 node"},
	} {
		var conditions []metav1.Condition
		worldOf([]*nodesv1.NodePool{pool}, member(test.report)).Judge(pool, "").Report(condition.Set{Conditions: &conditions, Now: time.Now()})
		if got := conditions[0]; got.Reason != test.reason || !strings.Contains(got.Message, test.words) {
			t.Errorf("%s: expected %s with %q, got %+v", name, test.reason, test.words, got)
		}
	}
}

func TestAgentsOfTheHostRunWhileItMayHaveRules(t *testing.T) {
	opens := walled(nodesv1.Firewall{HostFirewall: nodesv1.HostFirewallOpen})
	active := map[string]string{"gold": "1"}
	for name, test := range map[string]struct {
		world World
		want  bool
	}{
		"no pool opens it":      {worldOf([]*nodesv1.NodePool{pooltest.Pool("gold", walled(nodesv1.Firewall{}))}), false},
		"a pool opens it":       {worldOf([]*nodesv1.NodePool{pooltest.Pool("gold", opens)}), true},
		"the pool is paused":    {worldOf([]*nodesv1.NodePool{pooltest.Pool("gold", opens, pooltest.IsPaused())}), true},
		"the pool is deleted":   {worldOf([]*nodesv1.NodePool{pooltest.Pool("gold", opens, pooltest.BeingDeleted)}), true},
		"a node has rules":      {worldOf(nil, pooltest.Node("a", reports(nodefirewall.Report{Active: active, HostPools: []string{"gold"}}))), true},
		"it has them no longer": {worldOf(nil, pooltest.Node("a", reports(nodefirewall.Report{Active: active}))), false},
	} {
		d := decide(test.world)
		plan := (&reconciler{Tools: &kit.Tools{}}).Plan(&corev1.ServiceAccount{}, test.world, d)
		found := slices.ContainsFunc(plan.Children, func(c ensure.Child) bool { return c.Security == guard.HostCommand })
		if d.hostAgents != test.want || found != test.want {
			t.Errorf("%s: expected agents of the host: %v, got %v, %v", name, test.want, d.hostAgents, found)
		}
	}
}

func TestRulesWithTooManyAddressesKeepThePreviousOnes(t *testing.T) {
	pool := pooltest.Pool("gold", walled(nodesv1.Firewall{}), pooltest.Selects("all", "yes"))
	for range 64 {
		pool.Spec.Firewall.Rules = append(pool.Spec.Firewall.Rules, nodesv1.FirewallRule{From: []nodesv1.FirewallSource{{NodePool: "gold"}}})
	}
	var nodes []*corev1.Node
	for i := range 1000 {
		nodes = append(nodes, pooltest.Node(fmt.Sprint("node-", i), pooltest.HasLabel("all", "yes"), has(fmt.Sprintf("10.0.%d.%d", i/250, i%250))))
	}
	w := worldOf([]*nodesv1.NodePool{pool}, nodes...)
	if d := decide(w); d.documents["pool-gold"] != "" || !d.frozen["pool-gold"] || !d.agents {
		t.Error("expected the previous rules to stay")
	}
	var conditions []metav1.Condition
	w.Judge(pool, "").Report(condition.Set{Conditions: &conditions, Now: time.Now()})
	if conditions[0].Reason != nodesv1.ReasonRulesTooLarge || !strings.Contains(conditions[0].Message, "name CIDRs") {
		t.Errorf("expected the message to say what to write, got %+v", conditions[0])
	}
}

func TestDocumentsAreDeletedBeforeAgentsAreWritten(t *testing.T) {
	w := worldOf([]*nodesv1.NodePool{pooltest.Pool("gold", walled(nodesv1.Firewall{}))})
	w.documents = []string{"nodes", "pool-gold"}
	if decide(w).stale {
		t.Error("expected nothing to delete")
	}
	w.documents = append(w.documents, "pool-silver")
	d := decide(w)
	r := &reconciler{Tools: &kit.Tools{}}
	plan := r.Plan(&corev1.ServiceAccount{}, w, d)
	if !d.stale || len(plan.Children) != 2 || !plan.Stays(&appsv1.DaemonSet{}) {
		t.Errorf("expected the ConfigMaps only, and agents that stay, got %d children", len(plan.Children))
	}
}

func TestRulesThatCannotBeDeliveredAreReported(t *testing.T) {
	pool := pooltest.Pool("gold", walled(nodesv1.Firewall{}))
	var conditions []metav1.Condition
	worldOf([]*nodesv1.NodePool{pool}).Judge(pool, "not on a Friday").Report(condition.Set{Conditions: &conditions, Now: time.Now()})
	if conditions[0].Reason != nodesv1.ReasonRulesUndelivered || !strings.Contains(conditions[0].Message, "not on a Friday") {
		t.Errorf("expected the reason, got %+v", conditions[0])
	}
}

func TestSourcesThatDoNotExistAreNamed(t *testing.T) {
	pool := pooltest.Pool("gold", walled(nodesv1.Firewall{Rules: []nodesv1.FirewallRule{{From: []nodesv1.FirewallSource{{NodePool: "x"}, {Node: "y"}, {Node: "a"}, {NodePool: "gold"}}}}}))
	got := worldOf([]*nodesv1.NodePool{pool}, pooltest.Node("a")).Missing(pool)
	if strings.Join(got, ", ") != "Node y, NodePool x" {
		t.Errorf("expected both, got %v", got)
	}
}

func TestADeletedPoolTakesItsRulesBackDuringADryRun(t *testing.T) {
	for name, c := range map[string]struct {
		options []pooltest.PoolOption
		frozen  bool
	}{
		"a dry run":                     {[]pooltest.PoolOption{pooltest.InDryRun()}, true},
		"a deletion during the dry run": {[]pooltest.PoolOption{pooltest.InDryRun(), pooltest.BeingDeleted}, false},
		"a deletion that a user pauses": {[]pooltest.PoolOption{pooltest.IsPaused(), pooltest.BeingDeleted}, true},
	} {
		pool := pooltest.Pool("gold", append(c.options, walled(nodesv1.Firewall{}))...)
		d := decide(worldOf([]*nodesv1.NodePool{pool}))
		if d.frozen[nodefirewall.PoolMap("gold")] != c.frozen {
			t.Errorf("%s: expected the rules to stay: %t", name, c.frozen)
		}
	}
}

func TestANodeCannotReportMoreAddressesThanFit(t *testing.T) {
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("10.0.%d.%d", i/250, i%250))
	}
	w := worldOf(nil, pooltest.Node("a", has(many...)))
	if got := w.addresses().Nodes[0].Addresses; len(got) != mostAddresses {
		t.Errorf("expected %d addresses, got %d", mostAddresses, len(got))
	}
}

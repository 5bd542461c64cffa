// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/firewallagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func firewalled(rules ...nodesv1.FirewallRule) poolOption {
	return func(p *nodesv1.NodePool) { p.Spec.Firewall = &nodesv1.Firewall{Rules: rules} }
}

func port(number int32) []nodesv1.FirewallPort { return []nodesv1.FirewallPort{{Port: number}} }

// rulesOf returns the rules of a pool as agents read them.
func rulesOf(t *testing.T, pool string) (nodefirewall.Pool, error) {
	t.Helper()
	found := &corev1.ConfigMap{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: nodefirewall.Namespace, Name: nodefirewall.PoolMap(pool)}, found); err != nil {
		return nodefirewall.Pool{}, err
	}
	return nodefirewall.ParsePool(found.Data[nodefirewall.Key])
}

// awaitRules waits until the rules of a pool have a text.
func awaitRules(t *testing.T, pool, want string) {
	t.Helper()
	operator.Until(t, "the agents get "+want, func() error {
		got, err := rulesOf(t, pool)
		if text := fmt.Sprintf("%v deny %v %v", got.Members, got.Deny, got.Rules); err != nil || text != want {
			return fmt.Errorf("got %s, %w", text, errors.Join(err, errors.New("not as expected")))
		}
		return nil
	})
}

func awaitAgents(t *testing.T, exist bool) {
	t.Helper()
	operator.Until(t, fmt.Sprint("the DaemonSet of the agents exists: ", exist), func() error {
		err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: nodefirewall.Namespace, Name: nodefirewall.Name}, &appsv1.DaemonSet{})
		if exist && err != nil || !exist && !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %w", errors.Join(err, errors.New("not as expected")))
		}
		return nil
	})
}

// hasAddress gives a node an internal address, as its kubelet does.
func hasAddress(t *testing.T, node string, addresses ...string) {
	t.Helper()
	operator.Until(t, "the node has its addresses", func() error {
		n := getNode(t, node)
		n.Status.Addresses = nil
		for _, a := range addresses {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: a})
		}
		return env.Client.Status().Update(t.Context(), n)
	})
}

func TestRulesReachTheAgents(t *testing.T) {
	nodes := makeNodes(t, 3, "wall")
	for i, name := range nodes {
		hasAddress(t, name, fmt.Sprintf("10.9.0.%d", i+1), fmt.Sprintf("fd09::%d", i+1))
	}
	changeNode(t, nodes[0], role("wall"))
	changeNode(t, nodes[1], role("wall-peer"))
	firewallagents.Follow(t, env.Client)
	env.Operator(t)
	createPool(t, newPool("wall-peer"), newPool("wall", firewalled(nodesv1.FirewallRule{Name: "web", Ports: port(80)})))
	awaitReady(t, "wall", 1)
	awaitAgents(t, true)
	awaitRules(t, "wall", "["+nodes[0]+"] deny true [{web true [] [{TCP 80 80}]}]")

	end := int32(90)
	edit := func(change func(*nodesv1.Firewall)) {
		t.Helper()
		editPool(t, "wall", func(p *nodesv1.NodePool) { change(p.Spec.Firewall) })
	}
	edit(func(f *nodesv1.Firewall) {
		f.DefaultPolicy = nodesv1.FirewallAllow
		f.Rules = []nodesv1.FirewallRule{{Name: "peers", From: []nodesv1.FirewallSource{{NodePool: "wall-peer"}, {Node: nodes[2]}, {CIDR: "192.0.2.0/24"}},
			Ports: []nodesv1.FirewallPort{{Port: 80, EndPort: &end, Protocol: "UDP"}}}}
	})
	web := " [{UDP 80 90}]}]"
	awaitRules(t, "wall", "["+nodes[0]+"] deny false [{peers false [10.9.0.2/32 10.9.0.3/32 192.0.2.0/24 fd09::2/128 fd09::3/128]"+web)
	hasAddress(t, nodes[2], "10.9.0.33")
	awaitRules(t, "wall", "["+nodes[0]+"] deny false [{peers false [10.9.0.2/32 10.9.0.33/32 192.0.2.0/24 fd09::2/128]"+web)
	changeNode(t, nodes[1], lacksRole("wall-peer"))
	awaitRules(t, "wall", "["+nodes[0]+"] deny false [{peers false [10.9.0.33/32 192.0.2.0/24]"+web)
	awaitReady(t, "wall", 1)
	changeNode(t, nodes[1], role("wall"))
	awaitRules(t, "wall", "["+nodes[0]+" "+nodes[1]+"] deny false [{peers false [10.9.0.33/32 192.0.2.0/24]"+web)
	p := awaitReady(t, "wall", 2)
	if p.Status.Firewall == nil || p.Status.Firewall.ActiveNodes != 2 {
		t.Errorf("expected the rules to be active on 2 nodes, got %+v", p.Status.Firewall)
	}
	awaitCondition(t, "wall", nodesv1.NodePoolFirewallActive, "True RulesActive", "active on 2 nodes")
}

func TestAFirewallWritesLittleAndLeavesNothing(t *testing.T) {
	nodes := makeNodes(t, 3, "quiet", role("quiet"))
	before := likenesses(t, nodes)
	firewallagents.Follow(t, env.Client)
	o := env.Operator(t)
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	createPool(t, newPool("quiet", firewalled(nodesv1.FirewallRule{Ports: port(80)})))
	awaitReady(t, "quiet", 3)
	tally := env.Settled(t, mark).Writes().Tally()
	t.Logf("a pool with a firewall on 3 nodes: %v", tally)
	if tally["patch configmaps"] != 2 || tally["patch daemonsets"] != 1 {
		t.Errorf("expected two ConfigMaps and one DaemonSet, whatever the number of nodes, got %v", tally)
	}
	quietWithHeartbeats(t, nodes)

	mark = env.Audit.Mark(t)
	o.Stop()
	o.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected no write after a restart, got:\n%s", writes)
	}

	// Another client changes the rules. They are repaired with one write.
	mark = env.Audit.Mark(t)
	drifted := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: nodefirewall.Namespace, Name: nodefirewall.PoolMap("quiet")}
	if err := env.Client.Get(t.Context(), key, drifted); err != nil {
		t.Fatal(err)
	}
	want := drifted.Data[nodefirewall.Key]
	patch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"rules.json":"{}"}}`))
	if err := env.Client.Patch(t.Context(), drifted, patch); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the rules are repaired", func() error {
		if err := env.Client.Get(t.Context(), key, drifted); err != nil || drifted.Data[nodefirewall.Key] != want {
			return fmt.Errorf("not yet (%w)", errors.Join(err, errors.New("other rules")))
		}
		return nil
	})
	if writes := env.Settled(t, mark).Writes().On("configmaps"); len(writes) != 1 {
		t.Errorf("expected one write, got:\n%s", writes)
	}

	deletePool(t, "quiet")
	awaitPoolGone(t, "quiet")
	awaitAgents(t, false)
	operator.Until(t, "no ConfigMap is left", func() error {
		left := &corev1.ConfigMapList{}
		if err := env.Client.List(t.Context(), left, client.InNamespace(nodefirewall.Namespace), client.HasLabels{nodefirewall.Label}); err != nil || len(left.Items) > 0 {
			return fmt.Errorf("%d are left (%w)", len(left.Items), errors.Join(err, errors.New("not as expected")))
		}
		return nil
	})
	awaitLikeness(t, before)
}

func TestAgentsKnowThePortOfTheAPIServer(t *testing.T) {
	makeNodes(t, 1, "api", role("api"))
	firewallagents.Follow(t, env.Client)
	env.Operator(t)
	createPool(t, newPool("api", firewalled(nodesv1.FirewallRule{Ports: port(80)})))
	awaitReady(t, "api", 1)
	found := &corev1.ConfigMap{}
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: nodefirewall.Namespace, Name: nodefirewall.NodesMap}, found); err != nil {
		t.Fatal(err)
	}
	got, err := nodefirewall.ParseNodes(found.Data[nodefirewall.Key])
	if err != nil {
		t.Fatal(err)
	}
	if want := ":" + strconv.Itoa(int(got.APIServer)); !strings.HasSuffix(env.Config.Host, want) {
		t.Errorf("expected the port of %s, got %d", env.Config.Host, got.APIServer)
	}
}

func TestANodeThatRefusesRulesIsNamed(t *testing.T) {
	nodes := makeNodes(t, 2, "bad", role("bad"))
	agents := firewallagents.Follow(t, env.Client)
	env.Operator(t)
	agents.Absent(nodes[1], true)
	createPool(t, newPool("bad", firewalled(nodesv1.FirewallRule{From: []nodesv1.FirewallSource{{NodePool: "no-such-pool"}}, Ports: port(80)})))
	p := awaitCondition(t, "bad", nodesv1.NodePoolFirewallActive, "False RulesPending", nodes[1], "no report yet")
	if got := ready(p); got.Reason != nodesv1.ReasonRulesPending {
		t.Errorf("expected Ready to name the pending rules, got %+v", got)
	}
	agents.Absent(nodes[1], false)
	awaitCondition(t, "bad", nodesv1.NodePoolFirewallActive, "True RulesActive", "NodePool no-such-pool")
	agents.Refuse(nodes[0], "the node did not reach the API server for 30s, so it restored the previous rules")
	editPool(t, "bad", firewalled(nodesv1.FirewallRule{Ports: port(81)}))
	awaitCondition(t, "bad", nodesv1.NodePoolReady, "False RulesRefused", nodes[0], "did not reach the API server")
	agents.Refuse(nodes[0], "")
	awaitReady(t, "bad", 2)
}

func TestADeletedPoolWaitsUntilItsRulesAreGone(t *testing.T) {
	nodes := makeNodes(t, 2, "last", role("last"))
	agents := firewallagents.Follow(t, env.Client)
	env.Operator(t)
	createPool(t, newPool("last", firewalled()))
	awaitReady(t, "last", 2)
	agents.Absent(nodes[0], true)
	deletePool(t, "last")
	awaitCondition(t, "last", nodesv1.NodePoolReady, "False Deleting")
	awaitAgents(t, true)
	env.SetNodeReady(t, nodes[0], false) // a dead node does not block the deletion for ever
	awaitPoolGone(t, "last")
	awaitAgents(t, true) // its agent must remove the rules when the node returns
	agents.Absent(nodes[0], false)
	awaitAgents(t, false)
}

// Regression: the event of a node that had left the pool before woke no pool, so the deleted pool stayed.
func TestADeletedPoolEndsWhenANodeThatLeftItReports(t *testing.T) {
	nodes := makeNodes(t, 2, "left", role("left"))
	agents := firewallagents.Follow(t, env.Client)
	env.Operator(t)
	createPool(t, newPool("left", firewalled(nodesv1.FirewallRule{Ports: port(80)})))
	awaitReady(t, "left", 2)
	agents.Absent(nodes[0], true)
	changeNode(t, nodes[0], lacksRole("left"))
	awaitReady(t, "left", 1)
	deletePool(t, "left")
	awaitCondition(t, "left", nodesv1.NodePoolReady, "False Deleting", "1 node")
	env.Settled(t, env.Audit.Mark(t))
	agents.Absent(nodes[0], false)
	awaitPoolGone(t, "left")
}

func TestAPausedPoolKeepsItsRules(t *testing.T) {
	makeNodes(t, 1, "halt", role("halt"))
	firewallagents.Follow(t, env.Client)
	env.Operator(t)
	createPool(t, newPool("halt", firewalled(nodesv1.FirewallRule{Name: "old", Ports: port(80)})))
	awaitReady(t, "halt", 1)
	editPool(t, "halt", annotated(pause, "true"), firewalled(nodesv1.FirewallRule{Name: "new", Ports: port(81)}))
	env.Settled(t, env.Audit.Mark(t))
	if got, err := rulesOf(t, "halt"); err != nil || got.Rules[0].Name != "old" {
		t.Errorf("expected the previous rules, got %+v, %v", got, err)
	}
	editPool(t, "halt", unannotated(pause))
	operator.Until(t, "the new rules are delivered", func() error {
		if got, err := rulesOf(t, "halt"); err != nil || got.Rules[0].Name != "new" {
			return fmt.Errorf("got %+v, %w", got, errors.Join(err, errors.New("not as expected")))
		}
		return nil
	})
}

// An agent on a host that an attacker controls can report for its own Node, and do nothing else.
func TestAnAgentIsConfinedToTheReportOfItsNode(t *testing.T) {
	nodes := makeNodes(t, 2, "cage")
	env.Operator(t) // with the policies
	agent := agentOf(t, nodes[0])
	patch := func(node, text string) error {
		return agent.Patch(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, client.RawPatch(types.MergePatchType, []byte(text)))
	}
	const report = `{"metadata":{"annotations":{"opcrew.io/firewall":"{}"}}}`
	operator.Until(t, "an agent writes its report", func() error { return patch(nodes[0], report) })
	for name, err := range map[string]error{
		"another node":       patch(nodes[1], report),
		"another annotation": patch(nodes[0], `{"metadata":{"annotations":{"example.com/a":"b"}}}`),
		"a label":            patch(nodes[0], `{"metadata":{"labels":{"node-role.kubernetes.io/gold":""}}}`),
		"a taint":            patch(nodes[0], `{"spec":{"unschedulable":true}}`),
		"a deletion":         agent.Delete(t.Context(), getNode(t, nodes[0])),
		"rules":              agent.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: nodefirewall.Namespace, Name: "pool-x"}}),
		"Secrets":            agent.List(t.Context(), &corev1.SecretList{}, client.InNamespace(nodefirewall.Namespace)),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: expected the request to be forbidden, got %v", name, err)
		}
	}
	if err := patch(nodes[0], `{"metadata":{"annotations":{"opcrew.io/firewall":null}}}`); err != nil {
		t.Error(err)
	}
}

// agentOf returns a client with a token that is bound to a pod on a node, as an agent has it.
func agentOf(t *testing.T, node string) client.Client {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: nodefirewall.Namespace, Name: "agent-" + node},
		Spec: corev1.PodSpec{NodeName: node, ServiceAccountName: nodefirewall.Name, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}
	if err := env.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Client.Delete(context.WithoutCancel(t.Context()), pod, client.GracePeriodSeconds(0)) })
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: nodefirewall.Namespace, Name: nodefirewall.Name}}
	if err := env.Client.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(env.Config)
	config.BearerToken = request.Status.Token
	out, err := client.New(config, client.Options{Scheme: env.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The manifests of an existing pool must not change when nothing of the firewall is used.
func TestWithoutAFirewallThereIsNoAgent(t *testing.T) {
	makeNodes(t, 1, "none", role("none"))
	env.Operator(t)
	mark := env.Audit.Mark(t)
	createPool(t, newPool("none", wantsLabel("a", "b")))
	p := awaitReady(t, "none", 1)
	if writes := env.Settled(t, mark).Writes().Where(func(c testenv.Call) bool {
		return strings.Contains(c.URI, nodefirewall.Namespace) && c.Verb != "delete" // objects of an earlier test may still go
	}); len(writes) > 0 {
		t.Errorf("expected no write for agents, got:\n%s", writes)
	}
	if p.Status.Firewall != nil || slices.ContainsFunc(p.Status.Conditions, func(c metav1.Condition) bool { return c.Type == nodesv1.NodePoolFirewallActive }) {
		t.Errorf("expected nothing about a firewall in the status, got %+v", p.Status)
	}
}

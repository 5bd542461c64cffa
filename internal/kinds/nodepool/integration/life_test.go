// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/operator"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	pause  = "opcrew.io/paused"
	dryRun = "opcrew.io/dry-run"
)

// Regression: opcrew did not notice which nodes joined, stayed or left, especially when the last node left.
func TestAPoolFollowsItsNodes(t *testing.T) {
	nodes := makeNodes(t, 3, "follow", hasLabel("a", "b"))
	before := likenesses(t, nodes)
	env.Operator(t)
	createPool(t, newPool("follow", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule)))
	p := awaitReady(t, "follow", 0)
	if !strings.Contains(ready(p).Message, "label a node with node-role.kubernetes.io/follow=") {
		t.Errorf("expected a pool without nodes to say how to get one, got %q", ready(p).Message)
	}
	changeNode(t, nodes[0], role("follow"))
	changeNode(t, nodes[1], role("follow"))
	awaitReady(t, "follow", 2)
	awaitEvent(t, "Node", nodes[0], "JoinedNodePool")

	changeNode(t, nodes[0], isCordoned)
	env.SetNodeReady(t, nodes[1], false)
	awaitPool(t, "follow", "counts the cordoned one and the one that is not ready", func(p *nodesv1.NodePool) error {
		if s := p.Status; s.NodeCount != 2 || s.ReadyNodes != 1 || s.CordonedNodes != 1 {
			return fmt.Errorf("%d nodes, %d ready, %d cordoned", s.NodeCount, s.ReadyNodes, s.CordonedNodes)
		}
		return nil
	})
	env.SetNodeReady(t, nodes[1], true)
	changeNode(t, nodes[0], func(n *corev1.Node) { n.Spec.Unschedulable = false })

	born := makeNodes(t, 1, "follow-born", role("follow"))[0]
	awaitReady(t, "follow", 3)
	if err := env.Client.Delete(t.Context(), getNode(t, born)); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, "follow", 2)

	changeNode(t, nodes[0], lacksRole("follow"))
	awaitReady(t, "follow", 1)
	awaitEvent(t, "Node", nodes[0], "LeftNodePool")
	changeNode(t, nodes[1], lacksRole("follow"))
	p = awaitReady(t, "follow", 0)
	if len(p.Status.Allocatable) != 0 {
		t.Errorf("expected nothing allocatable without nodes, got %v", p.Status.Allocatable)
	}
	awaitLikeness(t, before)
	awaitEvent(t, "NodePool", "follow", "The pool now has 0 nodes, previously 1")
}

func TestANodeThatIsRegisteredAgainWithoutItsRoleHasLeft(t *testing.T) {
	names := makeNodes(t, 2, "again", role("again"))
	env.Operator(t)
	createPool(t, newPool("again", wantsLabel("tier", "gold")))
	awaitReady(t, "again", 2)
	old := getNode(t, names[0])
	if err := env.Client.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	fresh := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: names[0], Labels: labelMap{"kubernetes.io/hostname": names[0]}}}
	if err := env.Client.Create(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, "again", 1)
	env.Settled(t, env.Audit.Mark(t))
	now := getNode(t, names[0])
	if _, ok := now.Labels["tier"]; ok || now.Annotations[ledger] != "" {
		t.Errorf("expected the new node to be clean, got %v %v", now.Labels, now.Annotations)
	}
	// A kubelet may write annotations of its node. If a client other than opcrew wrote the ledger annotation (opcrew's
	// record of what it has set on the node), opcrew must not remove anything because of it.
	changeNode(t, names[0], hasLabel("tier", "gold"), func(n *corev1.Node) { hasNoteIn(n, ledger, old.Annotations[ledger]) })
	operator.Until(t, "a ledger that another client wrote is removed", func() error {
		n := getNode(t, names[0])
		if n.Annotations[ledger] != "" || n.Labels["tier"] != "gold" {
			return fmt.Errorf("it has %v %v", n.Labels, n.Annotations)
		}
		return nil
	})
}

func hasNoteIn(n *corev1.Node, key, value string) {
	if n.Annotations == nil {
		n.Annotations = map[string]string{}
	}
	n.Annotations[key] = value
}

func TestWhatHappensWhileTheOperatorIsDownIsDoneLater(t *testing.T) {
	nodes := makeNodes(t, 4, "down", hasLabel("a", "b"), hasTaint("theirs", "1", noSchedule))
	before := likenesses(t, nodes)
	changeNodes(t, nodes[:2], role("down"))
	changeNode(t, nodes[2], role("gone"))
	o := env.Operator(t)
	createPool(t, newPool("down", wantsLabel("tier", "gold"), wantsTaint("only", "gold", noSchedule)),
		newPool("gone", wantsLabel("tier", "silver"), wantsAnnotation("note", "x")))
	awaitReady(t, "down", 2)
	awaitReady(t, "gone", 1)
	o.Stop()
	changeNode(t, nodes[0], lacksRole("down"))
	changeNode(t, nodes[3], role("down"))
	changeNode(t, nodes[1], lacksLabel("tier"))
	deletePool(t, "gone")
	o.Start()
	awaitPoolGone(t, "gone")
	awaitClassGone(t, "gone")
	awaitReady(t, "down", 2)
	awaitNode(t, nodes[1], likeness{Labels: labelMap{"tier": "gold"}})
	awaitNode(t, nodes[3], likeness{Labels: labelMap{"tier": "gold"}, Taints: []string{"theirs=1:NoSchedule", "only=gold:NoSchedule"}})
	awaitLikeness(t, map[string]likeness{nodes[0]: before[nodes[0]]})
	changeNode(t, nodes[2], lacksRole("gone"))
	awaitLikeness(t, map[string]likeness{nodes[2]: before[nodes[2]]})
}

func TestADryRunShowsAndDoesNothing(t *testing.T) {
	nodes := makeNodes(t, 2, "dry", role("dry"))
	env.Operator(t)
	ns := env.Namespace(t)
	for i, node := range nodes {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprint("pod-", i)}}
		pod.Spec.NodeName, pod.Spec.Containers = node, []corev1.Container{{Name: "main", Image: "any.example/image:v1"}}
		if i == 1 {
			pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
		operator.Until(t, "the pod is admitted", func() error { return env.Client.Create(t.Context(), pod) })
	}
	before := likenesses(t, nodes)
	mark := env.Audit.Mark(t)
	createPool(t, newPool("dry", annotated(dryRun, "true"), wantsLabel("tier", "gold"), wantsTaint("only", "gold", noExecute)))
	p := awaitCondition(t, "dry", nodesv1.NodePoolReady, "False DryRun", "changes that would affect 2 nodes and evict 1 pod")
	want := &nodesv1.Preview{
		NodeCount: 2, Changes: []string{"apply RuntimeClass dry", "add label tier=gold on 2 nodes (dry-0, dry-1)", "add taint only:NoExecute=gold on 2 nodes (dry-0, dry-1)"},
		EvictionCount: 1, Evictions: []string{ns + "/pod-0 on dry-0"},
	}
	if fmt.Sprint(*p.Status.Preview) != fmt.Sprint(*want) {
		t.Errorf("expected the preview %v, got %v", want, p.Status.Preview)
	}
	if writes := env.Settled(t, mark).Writes(); len(writes) != len(statusWrites(writes)) {
		t.Errorf("expected no write but of the status, got:\n%s", writes)
	}
	env.Rests(t)
	awaitClassGone(t, "dry")
	awaitLikeness(t, before)

	editPool(t, "dry", unannotated(dryRun))
	p = awaitReady(t, "dry", 2)
	if p.Status.Preview != nil {
		t.Errorf("expected the preview to go with the dry run, got %v", p.Status.Preview)
	}
	awaitNode(t, nodes[0], likeness{Labels: labelMap{"tier": "gold"}, Taints: []string{"only=gold:NoExecute"}})
	operator.Until(t, "the pod that the preview named is evicted", func() error {
		return eventually.Gone(env.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "pod-0"}, &corev1.Pod{}), apierrors.IsNotFound)
	})

	// The NodePool is in dry run, and a user edits it.
	mark = env.Audit.Mark(t)
	editPool(t, "dry", annotated(dryRun, "true"), wantsLabel("tier", "silver"))
	awaitCondition(t, "dry", nodesv1.NodePoolReady, "False DryRun", "changes that would affect 2 nodes")
	if writes := env.Settled(t, mark).Writes(); len(writes) != len(statusWrites(writes)) {
		t.Errorf("expected no write but of the status, got:\n%s", writes)
	}
	awaitNode(t, nodes[0], likeness{Labels: labelMap{"tier": "gold"}})
	if c := getClass(t, "dry"); c.Scheduling.NodeSelector["tier"] != "gold" {
		t.Errorf("expected the RuntimeClass to stay as it was, got %v", c.Scheduling.NodeSelector)
	}
}

func TestAPausedPoolChangesNothingUntilThePauseEnds(t *testing.T) {
	nodes := makeNodes(t, 2, "paused")
	before := likenesses(t, nodes)
	changeNode(t, nodes[0], role("paused"))
	env.Operator(t)
	createPool(t, newPool("paused", wantsLabel("tier", "gold"), wantsAnnotation("note", "x")))
	awaitReady(t, "paused", 1)
	was := likenessOf(getNode(t, nodes[0]))
	env.Settled(t, env.Audit.Mark(t))

	mark := env.Audit.Mark(t)
	editPool(t, "paused", annotated(pause, "true"), wantsAnnotation("note", "y"))
	awaitCondition(t, "paused", "Paused", "True Paused")
	awaitCondition(t, "paused", nodesv1.NodePoolReady, "False Paused", "holds back changes")
	changeNode(t, nodes[1], role("paused"))
	changeNode(t, nodes[0], lacksLabel("unrelated"))
	if writes := env.Settled(t, mark).Writes(); len(writes) != len(statusWrites(writes)) {
		t.Errorf("expected no write but of the status, got:\n%s", writes)
	}
	awaitNode(t, nodes[0], was)
	deletePool(t, "paused")
	awaitPool(t, "paused", "says that the pause holds its deletion back", func(p *nodesv1.NodePool) error {
		if c := ready(p); c.Status != "False" || !strings.Contains(c.Message, pause) {
			return fmt.Errorf("it says %s: %s", c.Reason, c.Message)
		}
		return nil
	})
	eventually.Stays(t, operator.Silence, "the node of a paused pool that is being deleted stays as it is", func() error { return carries(getNode(t, nodes[0]), was) })

	editPool(t, "paused", unannotated(pause))
	awaitPoolGone(t, "paused")
	changeNodes(t, nodes, lacksRole("paused"))
	awaitLikeness(t, before)
}

func TestWhatWaitedIsDoneWhenThePauseEnds(t *testing.T) {
	nodes := makeNodes(t, 2, "unpaused", role("unpaused"))
	env.Operator(t)
	mark := env.Audit.Mark(t)
	createPool(t, newPool("unpaused", annotated(pause, "true"), wantsLabel("tier", "gold")))
	awaitCondition(t, "unpaused", nodesv1.NodePoolReady, "False Paused")
	if writes := env.Settled(t, mark).Writes(); len(writes) != len(statusWrites(writes)) {
		t.Errorf("expected no write but of the status, got:\n%s", writes)
	}
	editPool(t, "unpaused", unannotated(pause))
	p := awaitReady(t, "unpaused", 2)
	if c := conditionOf(p, "Paused"); c.Type != "" {
		t.Errorf("expected no condition Paused without a pause, got %+v", c)
	}
	awaitNode(t, nodes[1], likeness{Labels: labelMap{"tier": "gold"}})
}

func TestANodeThatRefusesIsNamedAndTheOthersGoOn(t *testing.T) {
	nodes := makeNodes(t, 3, "refusing", role("refusing"))
	env.Operator(t)
	refuse(t, nodes[1])
	createPool(t, newPool("refusing", wantsLabel("tier", "gold")))
	awaitCondition(t, "refusing", nodesv1.NodePoolNodesUpdated, "False NodeRefused", nodes[1]+") cannot be changed", "this node is frozen until Monday")
	p := awaitCondition(t, "refusing", nodesv1.NodePoolReady, "False NodeRefused", "this node is frozen until Monday")
	if p.Status.UpdatedNodes != 2 || p.Status.NodeCount != 3 {
		t.Errorf("expected 2 of 3 nodes to be updated, got %d of %d", p.Status.UpdatedNodes, p.Status.NodeCount)
	}
	awaitNode(t, nodes[0], likeness{Labels: labelMap{"tier": "gold"}})
	awaitNode(t, nodes[2], likeness{Labels: labelMap{"tier": "gold"}})
	eventually.Stays(t, operator.Silence, "the words of the refusal stay", func() error {
		if c := ready(getPool(t, "refusing")); !strings.Contains(c.Message, "this node is frozen until Monday") {
			return fmt.Errorf("it says %s", c.Message)
		}
		return nil
	})
	allow(t, nodes[1])
	awaitReady(t, "refusing", 3)

	// The status must also report a node that cannot be cleaned up after the deletion of a NodePool.
	refuse(t, nodes[1])
	deletePool(t, "refusing")
	awaitPool(t, "refusing", "says why it does not go", func(p *nodesv1.NodePool) error {
		if c := ready(p); c.Reason != "Deleting" || !strings.Contains(c.Message, "this node is frozen until Monday") {
			return fmt.Errorf("it says %s: %s", c.Reason, c.Message)
		}
		return nil
	})
	allow(t, nodes[1])
	awaitPoolGone(t, "refusing")
}

// refuse makes the API server reject every change of a node by opcrew.
func refuse(t *testing.T, node string) {
	t.Helper()
	fail := admissionv1.Fail
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: node}}
	policy.Spec = admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &fail,
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
			ResourceNames: []string{node},
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes"}},
			},
		}}},
		Validations: []admissionv1.Validation{{Expression: fmt.Sprintf("request.userInfo.username != %q", env.User), Message: "this node is frozen until Monday"}},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: node}}
	binding.Spec = admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: node, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}
	for _, o := range []client.Object{policy, binding} {
		if err := env.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { unrefuse(context.WithoutCancel(t.Context()), node) })
	awaitRefusal(t, node, true)
}

func allow(t *testing.T, node string) {
	t.Helper()
	unrefuse(t.Context(), node)
	awaitRefusal(t, node, false)
}

func unrefuse(ctx context.Context, node string) {
	_ = env.Client.Delete(ctx, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: node}})
	_ = env.Client.Delete(ctx, &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: node}})
}

// awaitRefusal waits until the API server rejects changes of the node because of an admission policy. If want is false,
// it waits until the API server accepts changes of the node again.
func awaitRefusal(t *testing.T, node string, want bool) {
	t.Helper()
	as := client.NewDryRunClient(env.ClientFor(t, env.ConfigAs(env.User, "system:serviceaccounts", "system:authenticated")))
	tries := 0
	operator.Until(t, fmt.Sprintf("the server refuses changes of node %s: %t", node, want), func() error {
		tries++
		err := tryChangeNode(t.Context(), as, node, "test", hasLabel("try", fmt.Sprint(tries)))
		switch {
		case want && err == nil:
			return errors.New("it takes them")
		case !want && err != nil:
			return err
		}
		return nil
	})
}

func TestNoExecuteIsWithheldFromTheControlPlaneUntilItIsAllowed(t *testing.T) {
	node := makeNodes(t, 1, "plane", role("plane"), role("control-plane"))[0]
	env.Operator(t)
	createPool(t, newPool("plane", wantsTaint("only", "plane", noExecute), wantsLabel("tier", "gold")))
	awaitCondition(t, "plane", nodesv1.NodePoolReady, "False ControlPlaneProtected", node, "spec.allowNoExecuteOnControlPlane")
	awaitNode(t, node, likeness{Labels: labelMap{"tier": "gold"}})
	if taints := likenessOf(getNode(t, node)).Taints; len(taints) > 0 {
		t.Errorf("expected no taint on the control plane, got %v", taints)
	}
	editPool(t, "plane", func(p *nodesv1.NodePool) { p.Spec.AllowNoExecuteOnControlPlane = true })
	awaitReady(t, "plane", 1)
	awaitNode(t, node, likeness{Taints: []string{"only=plane:NoExecute"}})
}

// Regression: a new value of a NoExecute taint evicted the pods of the NodePool itself.
func TestTheRunningPodsOfAPoolOutliveANewValueOfItsTaint(t *testing.T) {
	node := makeNodes(t, 1, "evicting", role("evicting"))[0]
	env.Operator(t)
	createPool(t, newPool("evicting", wantsTaint("only", "one", noExecute)))
	awaitReady(t, "evicting", 1)
	pod := articlePod(t, env.Namespace(t), "evicting")
	awaitPodOn(t, pod, node)
	editPool(t, "evicting", respec(wantsTaint("only", "two", noExecute)))
	awaitNode(t, node, likeness{Taints: []string{"only=two:NoExecute"}})
	eventually.Stays(t, operator.Silence, "the pod stays", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.DeletionTimestamp != nil {
			return fmt.Errorf("it is being deleted")
		}
		return nil
	})
}

func TestAPoolsSeriesAppearAndGoWithIt(t *testing.T) {
	makeNodes(t, 1, "series", role("series"))
	o := env.Operator(t)
	createPool(t, newPool("series", wantsLabel("tier", "gold")))
	awaitReady(t, "series", 1)
	want := []string{
		"opcrew_condition kind=NodePool name=series namespace= type=Conflict 0",
		"opcrew_condition kind=NodePool name=series namespace= type=HandlerAvailable 1",
		"opcrew_condition kind=NodePool name=series namespace= type=NodesUpdated 1",
		"opcrew_condition kind=NodePool name=series namespace= type=Ready 1",
		"opcrew_condition kind=NodePool name=series namespace= type=RuntimeClassReady 1",
		"opcrew_nodepool_conflicts pool=series 0",
		"opcrew_nodepool_nodes pool=series state=cordoned 0",
		"opcrew_nodepool_nodes pool=series state=failed 0",
		"opcrew_nodepool_nodes pool=series state=joining 0",
		"opcrew_nodepool_nodes pool=series state=leaving 0",
		"opcrew_nodepool_nodes pool=series state=ready 1",
		"opcrew_nodepool_nodes pool=series state=total 1",
		"opcrew_nodepool_nodes pool=series state=updated 1",
	}
	operator.Until(t, "the pool's series are there", func() error { return sameLines(want, series(t, o, "series")) })
	deletePool(t, "series")
	awaitPoolGone(t, "series")
	operator.Until(t, "the pool's series are gone", func() error { return sameLines(nil, series(t, o, "series")) })
}

// series returns the metrics of a NodePool.
func series(t *testing.T, o *operator.Process, pool string) []string {
	t.Helper()
	families, err := o.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, family := range families {
		for _, m := range family.Metric {
			line, ours := family.GetName(), false
			for _, l := range m.Label {
				line += " " + l.GetName() + "=" + l.GetValue()
				ours = ours || l.GetValue() == pool
			}
			if ours && m.Gauge != nil {
				out = append(out, fmt.Sprintf("%s %v", line, m.Gauge.GetValue()))
			}
		}
	}
	slices.Sort(out)
	return out
}

func sameLines(want, got []string) error {
	if !slices.Equal(want, got) {
		return fmt.Errorf("expected\n%s\nfound\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	return nil
}

// Two processes of opcrew may run at the same time, for example during an update of opcrew itself.
func TestTwoOperatorsAtOnceDoNotFight(t *testing.T) {
	nodes := makeNodes(t, 20, "two", role("two-a"), role("two-b"))
	env.Operator(t)
	env.Operator(t)
	mark := env.Audit.Mark(t)
	createPool(t, newPool("two-a", wantsLabel("tier", "a"), wantsLabel("shared", "1"), wantsAnnotation("note", "a")))
	awaitReady(t, "two-a", 20)
	checkWrites(t, mark, "the first pool", 20)

	mark = env.Audit.Mark(t)
	createPool(t, newPool("two-b", wantsLabel("tier", "b"), wantsLabel("shared", "1")))
	awaitCondition(t, "two-b", nodesv1.NodePoolReady, "False HeldByPool", `label tier should have the value "b", but has the value "a", which belongs to NodePool two-a, on 20 nodes`)
	checkWrites(t, mark, "the second pool", 20)

	mark = env.Audit.Mark(t)
	editPool(t, "two-a", respec(wantsLabel("shared", "1")))
	awaitReady(t, "two-b", 20)
	awaitReady(t, "two-a", 20)
	checkWrites(t, mark, "the edit", 20)
	for _, name := range nodes {
		if err := carries(getNode(t, name), likeness{Labels: labelMap{"tier": "b", "shared": "1"}}); err != nil {
			t.Errorf("node %s: %v", name, err)
		}
	}
	env.Rests(t)
}

// checkWrites checks that each node was changed exactly once.
func checkWrites(t *testing.T, mark testenv.Mark, what string, want int) {
	t.Helper()
	done := env.Settled(t, mark)
	t.Logf("%s: %v", what, done.Tally())
	if got := nodeWrites(done); len(got) != want {
		t.Errorf("%s: expected %d writes of nodes, got %d", what, want, len(got))
	}
}

func TestAnOperatorThatDiesInTheMiddleOfARolloutIsContinued(t *testing.T) {
	nodes := makeNodes(t, 50, "dies", role("dies"))
	before := likenesses(t, nodes)
	o := env.Operator(t)
	mark := env.Audit.Mark(t)
	createPool(t, newPool("dies", wantsLabel("tier", "gold"), wantsAnnotation("note", "x")))
	carriers := func() (n int) {
		for _, node := range listNodes(t) {
			if node.Labels["tier"] == "gold" && slices.Contains(nodes, node.Name) {
				n++
			}
		}
		return n
	}
	for carriers() < 5 {
		time.Sleep(time.Millisecond)
	}
	o.Stop()
	done := carriers()
	t.Logf("it died after %d of 50 nodes", done)
	o.Start()
	awaitReady(t, "dies", 50)
	written := map[string]int{}
	for _, call := range nodeWrites(env.Settled(t, mark)) { // skip requests that were in flight when the process was killed, as they have no response
		written[call.Name]++
		if written[call.Name] > 1 {
			t.Errorf("expected one write a node, got another of %s", call.Name)
		}
	}
	for _, name := range nodes {
		if err := carries(getNode(t, name), likeness{Labels: labelMap{"tier": "gold"}, Annotations: labelMap{"note": "x"}}); err != nil {
			t.Errorf("node %s: %v", name, err)
		}
	}

	deletePool(t, "dies")
	for carriers() > 45 {
		time.Sleep(time.Millisecond)
	}
	o.Stop()
	t.Logf("it died again with %d of 50 nodes to clean", carriers())
	o.Start()
	awaitPoolGone(t, "dies")
	awaitLikeness(t, before)
}

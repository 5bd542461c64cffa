// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/operator"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// promptly is how long a change that normally takes under a second may take on a busy machine.
const promptly = 3 * time.Second

func TestDriftOfANodeIsPutBackWithOneWrite(t *testing.T) {
	cases := []struct {
		name  string
		drift nodeOption
	}{
		{"a label is removed", lacksLabel("tier")},
		{"a label is changed", hasLabel("tier", "brass")},
		{"an annotation is removed", lacksNote("note")},
		{"an annotation is changed", hasNote("note", "y")},
		{"a taint is removed", lacksTaint("only")},
		{"a taint is changed", hasTaint("only", "brass", noSchedule)},
		{"the role label that the pool put there is removed", lacksRole("drift")},
		{"the ledger is removed", lacksNote(ledger)},
		{"the ledger is garbled", hasNote(ledger, "{")},
		{"all of it at once", func(n *corev1.Node) {
			lacksLabel("tier")(n)
			hasNote("note", "y")(n)
			lacksTaint("only")(n)
		}},
	}
	nodes := makeNodes(t, len(cases), "drift", hasLabel("drifts", "yes"))
	env.Operator(t)
	createPool(t, newPool("drift", selects("drifts", "yes"), wantsLabel("tier", "gold"), wantsAnnotation("note", "x"), wantsTaint("only", "gold", noSchedule)))
	awaitReady(t, "drift", len(nodes))
	want := likenesses(t, nodes)
	env.Settled(t, env.Audit.Mark(t))

	mark := env.Audit.Mark(t)
	for i, c := range cases { // one node per case, so that the cases run in parallel
		changeNode(t, nodes[i], c.drift)
		eventually.True(t, promptly, c.name+": the node is as before", func() error {
			n := getNode(t, nodes[i])
			if !strings.Contains(n.Annotations[ledger], `"gold","pools":["drift"]`) {
				return fmt.Errorf("the ledger is %q", n.Annotations[ledger])
			}
			return carries(n, want[nodes[i]])
		})
	}
	done := env.Settled(t, mark)
	for i, c := range cases {
		if writes := done.Writes().Named("", nodes[i]); len(writes) != 1 {
			t.Errorf("%s: expected exactly 1 write of the node, got:\n%s", c.name, writes)
		}
	}
	if others := len(done) - len(cases) - len(statusWrites(done)); others != 0 {
		t.Errorf("expected no other call but writes of the pool's status, got:\n%s", done)
	}
	env.Rests(t)
}

func TestDriftOfARuntimeClassIsPutBackWithOneWrite(t *testing.T) {
	seconds := int64(5)
	cases := []struct {
		name  string
		drift func(*nodev1.RuntimeClass)
	}{
		{"its node selector is changed", func(c *nodev1.RuntimeClass) { c.Scheduling.NodeSelector["tier"] = "brass" }},
		{"a label of its node selector is removed", func(c *nodev1.RuntimeClass) { delete(c.Scheduling.NodeSelector, "tier") }},
		{"its scheduling is removed", func(c *nodev1.RuntimeClass) { c.Scheduling = nil }},
		{"a toleration is changed", func(c *nodev1.RuntimeClass) { c.Scheduling.Tolerations[0].Value = "brass" }},
		{"a toleration is added", func(c *nodev1.RuntimeClass) {
			c.Scheduling.Tolerations = append(c.Scheduling.Tolerations, corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds, Effect: noExecute})
		}},
		{"its overhead is changed", func(c *nodev1.RuntimeClass) { c.Overhead.PodFixed["cpu"] = resource.MustParse("1") }},
		{"its owner is removed", func(c *nodev1.RuntimeClass) { c.OwnerReferences = nil }},
		{"its labels are removed", func(c *nodev1.RuntimeClass) {
			c.Labels = map[string]string{"opcrew.io/owner": c.Labels["opcrew.io/owner"]}
		}},
		{"its hash is removed", func(c *nodev1.RuntimeClass) { c.Annotations = nil }},
		{"it is deleted", nil},
	}
	env.Operator(t)
	name := func(i int) string { return fmt.Sprintf("class-drift-%d", i) }
	for i := range cases {
		createPool(t, newPool(name(i), wantsLabel("tier", "gold"), wantsTaint("only", "", noSchedule), func(p *nodesv1.NodePool) {
			p.Spec.Overhead = &nodesv1.Overhead{PodFixed: map[corev1.ResourceName]common.Amount{"cpu": "0.25"}}
		}))
	}
	for i := range cases {
		awaitReady(t, name(i), 0)
	}
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	for i, c := range cases { // one pool per case, so that the cases run in parallel
		before, after := getClass(t, name(i)), getClass(t, name(i))
		var err error
		if c.drift == nil {
			err = env.Client.Delete(t.Context(), after)
		} else {
			c.drift(after)
			err = env.Client.Update(t.Context(), after)
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		eventually.True(t, promptly, c.name+": the RuntimeClass is as before", func() error {
			now := &nodev1.RuntimeClass{}
			if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name(i)}, now); err != nil {
				return err
			}
			return sameClass(before, now)
		})
	}
	done := env.Settled(t, mark)
	for i, c := range cases {
		if writes := done.Writes().On("runtimeclasses").Named("", name(i)); len(writes) != 1 {
			t.Errorf("%s: expected exactly 1 write of the RuntimeClass, got:\n%s", c.name, writes)
		}
	}
	if others := done.Writes().Where(func(c testenv.Call) bool { return c.What() != "runtimeclasses" && c.What() != "nodepools/status" }); len(others) > 0 {
		t.Errorf("expected no other write, got:\n%s", others)
	}
	env.Rests(t)
}

func sameClass(want, got *nodev1.RuntimeClass) error {
	strip := func(c *nodev1.RuntimeClass) string {
		c = c.DeepCopy()
		c.UID, c.ResourceVersion, c.ManagedFields, c.CreationTimestamp = "", "", nil, want.CreationTimestamp
		text, err := json.Marshal(c)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	if a, b := strip(want), strip(got); a != b {
		return fmt.Errorf("expected %s\nfound %s", a, b)
	}
	return nil
}

// Regression: opcrew silently took over a RuntimeClass of another owner that had the name of the NodePool.
func TestTheRuntimeClassOfAnotherOwnerIsLeftAlone(t *testing.T) {
	node := makeNodes(t, 1, "taken", role("taken"))[0]
	env.Operator(t)
	theirs := &nodev1.RuntimeClass{Handler: "theirs"}
	theirs.Name = "taken"
	if err := env.Client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	createPool(t, newPool("taken", wantsLabel("tier", "gold")))
	awaitCondition(t, "taken", nodesv1.NodePoolReady, "False NameTaken", "RuntimeClass taken already exists", "leaves it unchanged")
	awaitNode(t, node, likeness{Labels: labelMap{"tier": "gold"}}) // the node must still get the settings of the pool
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	if now := getClass(t, "taken"); now.ResourceVersion != theirs.ResourceVersion {
		t.Errorf("expected the other owner's RuntimeClass to be as it was, got %+v", now)
	}

	if err := env.Client.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, "taken", 1)
	if now := getClass(t, "taken"); now.Handler != "runc" {
		t.Errorf("expected the pool's own RuntimeClass, got handler %s", now.Handler)
	}
}

func TestTheRuntimeClassOfAnotherOwnerOutlivesThePool(t *testing.T) {
	env.Operator(t)
	theirs := &nodev1.RuntimeClass{Handler: "theirs"}
	theirs.Name = "outlives"
	if err := env.Client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Client.Delete(context.WithoutCancel(t.Context()), theirs); err != nil {
			t.Error(err)
		}
	})
	createPool(t, newPool("outlives"))
	awaitCondition(t, "outlives", nodesv1.NodePoolReady, "False NameTaken")
	deletePool(t, "outlives")
	awaitPoolGone(t, "outlives")
	eventually.Stays(t, operator.Silence, "the other owner's RuntimeClass is there", func() error {
		return env.Client.Get(t.Context(), client.ObjectKeyFromObject(theirs), &nodev1.RuntimeClass{})
	})
}

// Regression: spec.handler was never used. The handler of a RuntimeClass is immutable, so opcrew must replace the
// RuntimeClass.
func TestAnotherHandlerReplacesTheRuntimeClass(t *testing.T) {
	makeNodes(t, 1, "handler", role("handler"))
	env.Operator(t)
	createPool(t, newPool("handler", withHandler("runc")))
	awaitReady(t, "handler", 1)
	old := getClass(t, "handler")
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	editPool(t, "handler", withHandler("kata"))
	awaitReady(t, "handler", 1)
	if now := getClass(t, "handler"); now.Handler != "kata" || now.UID == old.UID {
		t.Errorf("expected a new RuntimeClass with handler kata, got %s", now.Handler)
	}
	done := env.Settled(t, mark).Writes().On("runtimeclasses").Where(func(c testenv.Call) bool {
		return !strings.Contains(c.URI, "dryRun=All") // ignore the dry run with which opcrew tests the new RuntimeClass
	})
	if len(done.Verb("delete")) != 1 || len(done.Verb("patch")) != 1 || len(done) != 2 {
		t.Errorf("expected one delete and one apply, got:\n%s", done)
	}
	editPool(t, "handler", withHandler("gvisor"))
	awaitCondition(t, "handler", nodesv1.NodePoolReady, "False HandlerMissing", `no handler "gvisor"`, "handler-0")
}

// If opcrew and the other manager both insisted on their own value of the label, they would write it forever.
func TestALabelThatAnotherManagerKeepsChangingBackIsLeftAloneAndReported(t *testing.T) {
	node := makeNodes(t, 1, "contested", role("contested"))[0]
	env.Operator(t)
	createPool(t, newPool("contested", wantsLabel("tier", "gold")))
	awaitReady(t, "contested", 1)
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	rival, stop := context.WithTimeout(t.Context(), operator.Long)
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for rival.Err() == nil {
			n := &corev1.Node{}
			if err := env.Client.Get(rival, client.ObjectKey{Name: node}, n); err == nil && n.Labels["tier"] == "gold" {
				_ = tryChangeNode(rival, env.Client, node, "other-operator", hasLabel("tier", "brass"))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	p := awaitCondition(t, "contested", nodesv1.NodePoolNodesUpdated, "False NodeRefused", node, `"other-operator"`, "again and again")
	if c := ready(p); c.Status != "False" || !strings.Contains(c.Message, "other-operator") {
		t.Errorf("expected Ready to name the other manager, got %s: %s", c.Status, c.Message)
	}
	// Writes of other fields by the other manager must not make opcrew write again.
	for i := range 5 {
		changeNode(t, node, hasNote("unrelated", fmt.Sprint(i)))
		time.Sleep(300 * time.Millisecond)
	}
	stop()
	<-ended
	done := env.Settled(t, mark)
	if writes := nodeWrites(done); len(writes) > 4 {
		t.Errorf("expected three repairs at most and then patience, got %d writes of the node:\n%s", len(writes), writes)
	}
	if writes := statusWrites(done); len(writes) > 5 {
		t.Errorf("expected the status to be written when something changes, not as time goes by; got %d writes:\n%s", len(writes), writes)
	}
	if got := getNode(t, node).Labels["tier"]; got != "brass" {
		t.Errorf("expected the label to be left alone for a while, got %q", got)
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// world is a cluster with a pool of the nodes n1 to n4. n1 is not Ready since ten minutes. The time is noon.
type world struct {
	t     *testing.T
	now   time.Time
	pool  *nodesv1.NodePool
	nodes []*corev1.Node
	runs  map[string]*egov1.Activity
	// record is what the status of the pool says about n1.
	record *nodesv1.NodeRemediation
	// answers has what the commands print, by role.
	answers  map[Role]string
	renewed  map[string]time.Time
	obstacle *Obstacle
	frozen   bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: noon, runs: map[string]*egov1.Activity{}, renewed: map[string]time.Time{}}
	w.pool = pooltest.Pool("gold", func(p *nodesv1.NodePool) {
		p.Spec.Remediation = &nodesv1.Remediation{
			Fence:       nodesv1.RemediationCommand{Command: "power off"},
			PowerStatus: nodesv1.RemediationCommand{Command: "power status"},
		}
	})
	for i := 1; i <= 4; i++ {
		n := pooltest.Node(fmt.Sprintf("n%d", i), pooltest.Role("gold"))
		n.Status.NodeInfo.BootID = fmt.Sprintf("boot-of-n%d", i)
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.0.%d", i)}}
		w.nodes = append(w.nodes, n)
		w.renewed[n.Name] = noon.Add(-5 * time.Second)
	}
	w.down("n1", noon.Add(-10*time.Minute))
	w.answers = map[Role]string{Power1: "off\n", Power2: "off", Peer1: "no answer\n", Peer2: "no answer\n"}
	return w
}

func (w *world) node(name string) *corev1.Node {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *corev1.Node) bool { return n.Name == name })]
}

// down makes a node stop responding at a time.
func (w *world) down(name string, since time.Time) {
	w.node(name).Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.NewTime(since)}}
	w.renewed[name] = since.Add(-40 * time.Second)
}

// up makes a node Ready, with a boot ID.
func (w *world) up(name, boot string) {
	n := w.node(name)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.now)}}
	n.Status.NodeInfo.BootID = boot
}

func (w *world) input() *Input {
	renewed := map[string]time.Time{}
	for name, at := range w.renewed {
		if isReady(w.node(name)) {
			at = at.Add(w.now.Sub(noon))
		}
		renewed[name] = at
	}
	return &Input{
		Now: w.now, Node: w.node("n1"), Record: w.known(), Runs: w.runs, Obstacle: w.obstacle,
		Cluster: Cluster{Nodes: w.nodes, Renewed: renewed},
		Pool: Pool{
			Name: w.pool.Name, UID: w.pool.UID, Spec: w.pool.Spec.Remediation, Members: w.nodes, Frozen: w.frozen,
			Requester: &egov1.Requester{Username: "ada"},
		},
	}
}

func (w *world) known() *nodesv1.NodeRemediation {
	if w.record == nil {
		return nil
	}
	return RecordOf(w.node("n1"), []nodesv1.NodeRemediation{*w.record})
}

// step decides once, and carries out the verdict.
func (w *world) step() *Verdict {
	in := w.input()
	v := Decide(in)
	for _, run := range v.Create {
		w.create(in, run)
	}
	w.report(v)
	return v
}

func (w *world) create(in *Input, run Run) {
	a := &egov1.Activity{Spec: in.Spec(run)}
	a.Name, a.UID, a.CreationTimestamp = run.Name, types.UID("uid-of-"+run.Name), metav1.NewTime(w.now)
	if w.runs[run.Name] != nil {
		w.t.Errorf("expected no second Activity %s", run.Name)
	}
	w.runs[run.Name] = a
}

func (w *world) report(v *Verdict) {
	w.record = v.Record
	w.pool.Status.Remediation = nil
	if v.Record != nil {
		w.pool.Status.Remediation = []nodesv1.NodeRemediation{*v.Record}
	}
}

// work ends all Activities, as package activity does, with what their commands print.
func (w *world) work() {
	for name, a := range w.runs {
		if over(a) {
			continue
		}
		for _, role := range roles {
			if len(name) > len(role) && name[len(name)-len(role):] == string(role) {
				a.Status.Output = w.answers[role]
			}
		}
		w.end(a, egov1.StateSucceeded)
	}
}

func (w *world) end(a *egov1.Activity, state egov1.State) {
	ended := metav1.NewTime(w.now)
	a.Status.Prosta, a.Status.EndedAt = state, &ended
}

// run lets the time pass in steps of five seconds, in which all Activities end, until a node is fenced or the time is
// over. It returns the last verdict.
func (w *world) run(limit time.Duration) *Verdict {
	var v *Verdict
	for end := w.now.Add(limit); w.now.Before(end); w.now = w.now.Add(5 * time.Second) {
		v = w.step()
		w.work()
		w.mark("n1")
	}
	return v
}

// mark applies the patch of a node.
func (w *world) mark(name string) bool {
	patch, _, needed := Patch(w.node(name), w.pool)
	if !needed {
		return false
	}
	after, err := pooltest.TryPatch(w.node(name), patch.Data)
	if err != nil {
		w.t.Fatalf("the API server refuses the patch %s: %v", patch.Data, err)
	}
	*w.node(name) = *after
	return true
}

func (w *world) attempts() int {
	n := 0
	for name := range w.runs {
		if name[len(name)-len(Fence):] == string(Fence) {
			n++
		}
	}
	return n
}

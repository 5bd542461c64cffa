// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/drain"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// earlier and target are the configurations that the pool had and gets.
const (
	earlier = "rendered-gold-11111111111111111111111111111111"
	target  = "rendered-gold-22222222222222222222222222222222"
)

func newPool() *mcfgv1.MachineConfigPool {
	p := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: "gold"}}
	p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"gold": ""}}
	p.Spec.Configuration.Name = target
	p.Status.Configuration.Name = earlier
	return p
}

type annotations = map[string]string

// newNode returns a ready node of the pool that has a configuration.
func newNode(name, config string, more annotations) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: annotations{"gold": ""}}}
	n.Annotations = annotations{machineorder.CurrentConfig: config, machineorder.DesiredConfig: config, machineorder.State: machineorder.StateDone}
	maps.Copy(n.Annotations, more)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}}
	return n
}

func failedNode(name, state string) *corev1.Node {
	report := `{"config":"` + target + `","phase":"Failed","message":"the disk is full"}`
	return newNode(name, earlier, annotations{machineorder.DesiredConfig: target, machineorder.State: state, machineorder.ReportAnnotation: report})
}

// reported returns the status of a pool with nodes.
func reported(p *mcfgv1.MachineConfigPool, f facts, done kit.Outcome, nodes ...*corev1.Node) *mcfgv1.MachineConfigPool {
	f.fleet.Pools, f.fleet.Nodes = []*mcfgv1.MachineConfigPool{p}, nodes
	if f.rendering.rendered == nil {
		f.rendering.rendered = &render.Rendered{Sources: []string{"50-gold"}}
	}
	out, r := p.DeepCopy(), &poolReconciler{}
	done.Now = now
	r.Report(out, f, r.Decide(p, f, now), done)
	return out
}

func text(p *mcfgv1.MachineConfigPool, kind string) string {
	c := meta.FindStatusCondition(p.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return string(c.Status) + " " + c.Reason
}

func TestTheConditionsFollowFromTheNodes(t *testing.T) {
	paused := newPool()
	paused.Spec.Paused = true
	annotated := newPool()
	annotated.Annotations = annotations{common.PausedAnnotation: "true"}
	for name, c := range map[string]struct {
		pool  *mcfgv1.MachineConfigPool
		nodes []*corev1.Node
		want  [4]string // Ready, Updated, Updating, Degraded
	}{
		"no nodes":    {newPool(), nil, [4]string{"True NoNodes", "True NoNodes", "False NoNodes", "False Healthy"}},
		"all updated": {newPool(), []*corev1.Node{newNode("a", target, nil)}, [4]string{"True AllUpdated", "True AllUpdated", "False AllUpdated", "False Healthy"}},
		"one behind": {newPool(), []*corev1.Node{newNode("a", target, nil), newNode("b", earlier, nil)},
			[4]string{"True Updating", "False Updating", "True Updating", "False Healthy"}},
		"paused and behind":        {paused, []*corev1.Node{newNode("b", earlier, nil)}, [4]string{"True Paused", "False Paused", "False Paused", "False Healthy"}},
		"paused by the annotation": {annotated, []*corev1.Node{newNode("b", earlier, nil)}, [4]string{"True Paused", "False Paused", "False Paused", "False Healthy"}},
		"one failed": {newPool(), []*corev1.Node{failedNode("a", machineorder.StateDegraded)},
			[4]string{"False NodeFailed", "False Updating", "True Updating", "True NodeFailed"}},
		"one unreconcilable": {newPool(), []*corev1.Node{failedNode("a", machineorder.StateUnreconcilable)},
			[4]string{"False NodeUnreconcilable", "False Updating", "True Updating", "True NodeUnreconcilable"}},
	} {
		p := reported(c.pool, facts{}, kit.Outcome{}, c.nodes...)
		got := [4]string{text(p, mcfgv1.PoolReady), text(p, mcfgv1.PoolUpdated), text(p, mcfgv1.PoolUpdating), text(p, mcfgv1.PoolDegraded)}
		if got != c.want {
			t.Errorf("%s: expected %v, got %v", name, c.want, got)
		}
	}
}

func TestAProblemOfRenderingIsReportedFirst(t *testing.T) {
	f := facts{rendering: rendering{problem: &problem{mcfgv1.ReasonInvalidConfig, "50-gold: no version"}}}
	p := reported(newPool(), f, kit.Outcome{}, failedNode("a", machineorder.StateDegraded))
	if got := text(p, mcfgv1.PoolReady); got != "False InvalidConfig" {
		t.Errorf("expected Ready to name the problem of rendering, got %s", got)
	}
	p = reported(newPool(), facts{}, kit.Outcome{Err: errors.New("quota exceeded")}, newNode("a", target, nil))
	if got := text(p, mcfgv1.PoolRenderDegraded); got != "True Refused" {
		t.Errorf("expected a refused write to be reported, got %s", got)
	}
}

func TestWhatBlocksADrainIsReported(t *testing.T) {
	n := newNode("a", earlier, annotations{
		machineorder.DesiredConfig: target, machineorder.State: machineorder.StateWorking, machineorder.DesiredDrain: "drain-" + target,
		machineorder.ReportAnnotation: `{"config":"` + target + `","phase":"Drain"}`, "opcrew.io/machine-cordoned": "2026-11-25T12:00:00Z",
	})
	n.Spec.Unschedulable = true
	blocked := drain.Blocked{Pod: drain.Pod{Namespace: "shop", Name: "db"}, Budget: "db", Message: "PodDisruptionBudget db allows no disruption"}
	f := facts{drains: map[string]*drain.Plan{"a": {Blocked: []drain.Blocked{blocked}}}}
	p := reported(newPool(), f, kit.Outcome{}, n, newNode("b", target, nil))
	if got := text(p, mcfgv1.PoolReady); got != "False DrainBlocked" {
		t.Errorf("expected Ready to name the drain, got %s", got)
	}
	if len(p.Status.Nodes) != 1 || p.Status.Nodes[0].State != "Draining" || p.Status.Nodes[0].BlockerCount != 1 {
		t.Errorf("expected one draining node with a blocker, got %+v", p.Status.Nodes)
	}
}

func TestDriftIsNotDegraded(t *testing.T) {
	report := `{"config":"` + target + `","phase":"Done","drift":["/etc/motd has other content"]}`
	p := reported(newPool(), facts{}, kit.Outcome{}, newNode("a", target, annotations{machineorder.ReportAnnotation: report}))
	if text(p, mcfgv1.PoolDrifted) != "True Drift" || text(p, mcfgv1.PoolDegraded) != "False Healthy" || text(p, mcfgv1.PoolReady) != "True AllUpdated" {
		t.Errorf("expected drift to be reported separately, got %v", p.Status.Conditions)
	}
}

func TestTheStatusRecordsTheConfigurationOfAllNodes(t *testing.T) {
	if got := reported(newPool(), facts{}, kit.Outcome{}, newNode("a", target, nil)).Status.Configuration.Name; got != target {
		t.Errorf("expected %s, got %s", target, got)
	}
	if got := reported(newPool(), facts{}, kit.Outcome{}, newNode("a", target, nil), newNode("b", earlier, nil)).Status.Configuration.Name; got != earlier {
		t.Errorf("expected the earlier configuration while one node is behind, got %s", got)
	}
}

func TestConfigurationsThatANodeOrThePoolNeedsAreKept(t *testing.T) {
	var rendered []*mcfgv1.MachineConfig
	for i, name := range []string{"rendered-gold-0", earlier, target, "rendered-gold-3", "rendered-gold-4", "rendered-gold-5"} {
		rendered = append(rendered, &mcfgv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now.Add(time.Duration(i) * time.Minute))}})
	}
	p := newPool()
	one := int32(1)
	p.Spec.HistoryLimit = &one
	kept := needed(p, rendered, &fleet.Fleet{Nodes: []*corev1.Node{newNode("a", "rendered-gold-3", nil)}})
	var got []string
	for _, mc := range rendered {
		if kept[mc.Name] {
			got = append(got, mc.Name)
		}
	}
	if want := []string{earlier, target, "rendered-gold-3", "rendered-gold-5"}; !slices.Equal(got, want) {
		t.Errorf("expected %v, got %v", want, got)
	}
}

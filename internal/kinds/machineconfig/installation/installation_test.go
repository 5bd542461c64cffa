// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const image = "registry.example.com/opcrew-agent:v1"

var from = origin{image: image, ca: "fedcba"}

var agent = image + " machine-1 fedcba"

func newNode(annotations map[string]string, labels ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", UID: "uid-a", Annotations: annotations, Labels: map[string]string{}}}
	for _, l := range labels {
		n.Labels[l] = ""
	}
	n.Status.NodeInfo.MachineID = "machine-1"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func newPool(name string) *mcfgv1.MachineConfigPool {
	p := &mcfgv1.MachineConfigPool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{name: ""}}
	return p
}

func podOf(n *corev1.Node, t task, from origin, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: podName(n, t, from)}, Status: corev1.PodStatus{Phase: phase}}
}

func TestAHostHasAnAgentAsLongAsAPoolConfiguresIt(t *testing.T) {
	paused := newPool("gold")
	paused.Spec.Paused = true
	annotated := newPool("gold")
	annotated.Annotations = map[string]string{common.PausedAnnotation: "true"}
	going := newPool("gold")
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	installed := map[string]string{nodepatch.AgentAnnotation: agent}
	configured := func(current string) map[string]string {
		return map[string]string{nodepatch.AgentAnnotation: agent, machineorder.CurrentConfig: current}
	}
	restored := configured(machineorder.None)
	rendered, err := render.Render(nil)
	if err != nil {
		t.Fatal(err)
	}
	empty, _, err := rendered.Complete("gold", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		node *corev1.Node
		pool *mcfgv1.MachineConfigPool
		want task
	}{
		"no pool":                       {newNode(nil), newPool("gold"), ""},
		"a new node":                    {newNode(nil, "gold"), newPool("gold"), install},
		"it has the agent":              {newNode(installed, "gold"), newPool("gold"), ""},
		"an earlier version":            {newNode(map[string]string{nodepatch.AgentAnnotation: "registry.example.com/opcrew-agent:v0 machine-1 fedcba"}, "gold"), newPool("gold"), install},
		"installed with another CA":     {newNode(map[string]string{nodepatch.AgentAnnotation: image + " machine-1 012345"}, "gold"), newPool("gold"), install},
		"another machine took its name": {newNode(map[string]string{nodepatch.AgentAnnotation: image + " machine-0 fedcba"}, "gold"), newPool("gold"), install},
		"the pool is paused":            {newNode(nil, "gold"), paused, ""},
		"the annotation pauses it":      {newNode(nil, "gold"), annotated, ""},
		"it left, and is configured":    {newNode(configured("rendered-gold-1")), newPool("gold"), ""},
		"it left with nothing":          {newNode(configured(empty.Name)), newPool("gold"), uninstall},
		"it left, and is restored":      {newNode(restored), newPool("gold"), uninstall},
		"its pool is deleted":           {newNode(restored, "gold"), going, uninstall},
		"the agent is being removed":    {newNode(map[string]string{nodepatch.AgentAnnotation: nodepatch.Removing}), newPool("gold"), uninstall},
		"it came back meanwhile":        {newNode(map[string]string{nodepatch.AgentAnnotation: nodepatch.Removing}, "gold"), newPool("gold"), install},
	} {
		if got := taskOf(test.node, facts{pools: []*mcfgv1.MachineConfigPool{test.pool}, origin: from}); got != test.want {
			t.Errorf("%s: expected task %q, got %q", name, test.want, got)
		}
	}
}

func TestTheResultOfAPodIsRecordedBeforeThePodIsDeleted(t *testing.T) {
	joined, left := newNode(nil, "gold"), newNode(map[string]string{nodepatch.AgentAnnotation: nodepatch.Removing})
	leaving := newNode(map[string]string{nodepatch.AgentAnnotation: agent})
	notReady := newNode(nil, "gold")
	notReady.Status.Conditions = nil
	for name, test := range map[string]struct {
		node *corev1.Node
		pods []*corev1.Pod
		want decision
	}{
		"no pod yet":                    {joined, nil, decision{task: install}},
		"the node is not ready":         {notReady, nil, decision{again: queueWait}},
		"it runs":                       {joined, []*corev1.Pod{podOf(joined, install, from, corev1.PodRunning)}, decision{task: install}},
		"a pod of an earlier image":     {joined, []*corev1.Pod{podOf(joined, install, origin{image: "old"}, corev1.PodSucceeded)}, decision{task: install}},
		"it has ended":                  {joined, []*corev1.Pod{podOf(joined, install, from, corev1.PodSucceeded)}, decision{task: install, agent: agent}},
		"the removal is recorded first": {leaving, nil, decision{agent: nodepatch.Removing}},
		"then the agent is removed":     {left, nil, decision{task: uninstall}},
		"then nothing is left of it":    {left, []*corev1.Pod{podOf(left, uninstall, from, corev1.PodSucceeded)}, decision{task: uninstall, removed: true}},
	} {
		got := decide(test.node, facts{pools: []*mcfgv1.MachineConfigPool{newPool("gold")}, pods: test.pods, origin: from})
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(decision{})); diff != "" {
			t.Errorf("%s (-expected +found):\n%s", name, diff)
		}
	}
}

func TestFewPodsExistAtTheSameTime(t *testing.T) {
	f := facts{pools: []*mcfgv1.MachineConfigPool{newPool("gold")}, origin: from}
	for i := range mostPods {
		f.pods = append(f.pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("install-", i)}})
	}
	node := newNode(nil, "gold")
	if got := decide(node, f); got.task != "" || got.again != queueWait {
		t.Errorf("expected the node to wait for the pods of other nodes, got %+v", got)
	}
	f.pods[0] = podOf(node, install, from, corev1.PodRunning)
	if got := decide(node, f); got.task != install {
		t.Errorf("expected the pod that exists to be kept, got %+v", got)
	}
}

func TestThePodHasAValidNameForEachNode(t *testing.T) {
	node := newNode(nil)
	for _, name := range []string{"node-a", strings.Repeat("n", 253), strings.Repeat("n", longestName-1) + "." + strings.Repeat("m", 20)} {
		node.Name = name
		if got := podName(node, uninstall, from); len(got) > 253 || strings.Contains(got, ".-") {
			t.Errorf("expected a valid name of at most 253 characters, got %q", got)
		}
	}
}

func TestTheRemovalRestoresTheHost(t *testing.T) {
	got := pod(newNode(nil), uninstall, from).Spec.Containers[0]
	if diff := cmp.Diff([]string{"uninstall", "--root", "/proc/1/root", "--restore"}, got.Args); diff != "" {
		t.Errorf("expected the arguments of a removal that restores the host:\n%s", diff)
	}
}

func TestARemovedAgentLeavesNoAnnotation(t *testing.T) {
	node := newNode(map[string]string{"example.com/mine": "1"})
	for _, name := range nodepatch.Protocol() {
		node.Annotations[name] = "x"
	}
	patch, needed := edit(decision{task: uninstall, removed: true}).Patch(node)
	if !needed {
		t.Fatal("expected a patch")
	}
	for _, name := range nodepatch.Protocol() {
		if !strings.Contains(string(patch.Data), `"remove","path":"/metadata/annotations/`+strings.ReplaceAll(name, "/", "~1")) {
			t.Errorf("expected annotation %s to be removed, got %s", name, patch.Data)
		}
	}
	if strings.Contains(string(patch.Data), "mine") {
		t.Errorf("expected annotations of others to stay, got %s", patch.Data)
	}
}

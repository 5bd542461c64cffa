// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func TestADeadNodeIsFencedWithTheEvidence(t *testing.T) {
	w := newWorld(t)
	v := w.run(time.Minute)
	if v.Record == nil || v.Record.Phase != nodesv1.RemediationFenced || v.Record.Attempt != 1 || len(v.Record.Evidence) != 4 {
		t.Fatalf("expected the node to be fenced in one attempt with four pieces of evidence, got %+v", v.Record)
	}
	pooltest.Same(t, "taints", []string{"opcrew.io/fenced=" + bootMark(w.node("n1")) + ":NoSchedule", "node.kubernetes.io/out-of-service=fenced-by-opcrew:NoExecute"},
		pooltest.TaintsOf(w.node("n1")))
	hosts := map[string]bool{}
	for name, a := range w.runs {
		if strings.Contains(name, "peer") {
			hosts[a.Spec.Host] = true
		}
		if a.Spec.Host == "n1" {
			t.Errorf("expected no command on the dead node, got %s", name)
		}
	}
	if len(hosts) != 2 || len(w.runs) != 5 {
		t.Errorf("expected five Activities, two of them on different peers, got %d on %v", len(w.runs), hosts)
	}
	if again := w.step(); len(again.Create) > 0 || again.Again > 0 {
		t.Errorf("expected nothing to be done while the machine is off, got %+v", again)
	}
}

func TestNothingHappensWithoutADeadNode(t *testing.T) {
	w := newWorld(t)
	w.up("n1", "boot-of-n1")
	if v := w.step(); v.Record != nil || len(v.Create) > 0 || v.Again > 0 {
		t.Errorf("expected nothing, got %+v", v)
	}
}

// Each rule that forbids an attempt has one case.
func TestAMachineIsNotFenced(t *testing.T) {
	controlPlane := pooltest.HasLabel("node-role.kubernetes.io/control-plane", "")
	for name, c := range map[string]struct {
		change func(w *world)
		says   string
	}{
		"while the node is not Ready for a short time": {func(w *world) { w.down("n1", noon.Add(-4*time.Minute)) }, "if this lasts 5m"},
		"while the pool is paused":                     {func(w *world) { w.frozen = true }, "holds back changes"},
		"while the node is paused":                     {func(w *world) { pooltest.HasAnnotation("opcrew.io/paused", "true")(w.node("n1")) }, "opcrew.io/paused"},
		"without a boot ID":                            {func(w *world) { w.node("n1").Status.NodeInfo.BootID = "" }, "boot ID"},
		"while another owner cares for it":             {func(w *world) { pooltest.HasTaint(corev1.TaintNodeOutOfService, "x", pooltest.NoExecute)(w.node("n1")) }, "another owner"},
		"while the requester is unknown":               {func(w *world) { w.obstacle = &Obstacle{"RequesterUnknown", "who?"} }, "who?"},
		"while half of the nodes are not Ready":        {func(w *world) { w.down("n2", noon) }, "2 of the 4 nodes"},
		"while half of the leases are old": {func(w *world) {
			w.renewed["n2"] = noon.Add(-time.Minute)
		}, "only 2 of the 4 nodes"},
		"while leases are from the future": {func(w *world) {
			w.renewed["n2"], w.renewed["n3"] = noon.Add(time.Hour), noon.Add(time.Hour)
		}, "only 1 of the 4 nodes"},
		"while its kubelet renews its lease": {func(w *world) { w.renewed["n1"] = noon }, "not dead"},
		"while its kubelet reports that it is not Ready": {func(w *world) {
			w.node("n1").Status.Conditions[0].Status, w.renewed["n1"] = corev1.ConditionFalse, noon
		}, "Ready of the node is False, but its kubelet renews its lease"},
		"while a rollout works on its pool": {func(w *world) {
			pooltest.HasAnnotation("machineconfiguration.openshift.io/desiredConfig", "b")(w.node("n2"))
		}, "rollout of MachineConfig works on node n2"},
		"while a rollout works on it": {func(w *world) {
			for key, value := range map[string]string{"desiredConfig": "a", "currentConfig": "a", "state": "Working"} {
				pooltest.HasAnnotation("machineconfiguration.openshift.io/"+key, value)(w.node("n1"))
			}
		}, "works on node n1"},
		"while another control plane node is cordoned": {func(w *world) {
			controlPlane(w.node("n1"))
			controlPlane(w.node("n2"))
			pooltest.IsCordoned(w.node("n2"))
		}, "one control plane machine at a time"},
		"while too few nodes are healthy":             {func(w *world) { w.pool.Spec.Remediation.MinHealthy = new(intstr.FromInt32(4)) }, "requires 4"},
		"while the share of healthy nodes is too low": {func(w *world) { w.pool.Spec.Remediation.MinHealthy = new(intstr.FromString("76%")) }, "requires 4"},
		"after another machine answered although it was off": {func(w *world) {
			pooltest.HasTaint(nodesv1.FencedTaint, answered+"x", pooltest.NoSchedule)(w.node("n2"))
		}, "machine of node n2 answered"},
		"while the node runs a command for another machine": {func(w *world) {
			w.runs["remediation-other-1-fence"] = &egov1.Activity{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}, Spec: egov1.ActivitySpec{Host: "n1"}}
		}, "runs on the node for another machine"},
		"without an address": {func(w *world) { w.node("n1").Status.Addresses = nil }, "no IP address"},
		"without a host for the fence command": {func(w *world) {
			w.pool.Spec.Remediation.Fence.OnNodes = map[string]nodesv1.LabelValue{"bmc": "yes"}
		}, "fence.onNodes"},
		"without a host for the power status": {func(w *world) {
			w.pool.Spec.Remediation.PowerStatus.OnNodes = map[string]nodesv1.LabelValue{"bmc": "yes"}
		}, "powerStatus.onNodes"},
		"without two peers": {func(w *world) {
			for _, n := range w.nodes[2:] {
				n.Status.Addresses = nil
			}
		}, "fewer than two other nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w)
			v := w.step()
			if len(v.Create) > 0 || v.Record == nil || v.Record.Phase != nodesv1.RemediationWaiting || !strings.Contains(v.Record.Message, c.says) {
				t.Fatalf("expected it to wait and to say %q, got %+v", c.says, v.Record)
			}
			if v.Again <= 0 {
				t.Error("expected another look later")
			}
		})
	}
}

func TestAControlPlaneMachineIsFencedWhileTheOthersAreReady(t *testing.T) {
	w := newWorld(t)
	for _, n := range w.nodes[:3] {
		pooltest.HasLabel("node-role.kubernetes.io/control-plane", "")(n)
	}
	if v := w.step(); len(v.Create) != 1 || v.Create[0].Host != "n4" {
		t.Errorf("expected the fence command on n4, which is not in the control plane, got %+v", v)
	}
}

func TestAnAttemptStopsInItsMiddle(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"when most nodes are not Ready": func(w *world) { w.down("n2", w.now); w.down("n3", w.now) },
		"when leases become old":        func(w *world) { w.renewed["n2"], w.renewed["n3"] = noon.Add(-time.Hour), noon.Add(-time.Hour) },
		"when the pool is paused":       func(w *world) { w.frozen = true },
		"when the requester is lost":    func(w *world) { w.obstacle = &Obstacle{"RequesterUnknown", "who?"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.step()
			w.work()
			change(w)
			v := w.run(4 * time.Minute)
			if v.Held == nil || len(w.runs) != 1 || Fenced(w.node("n1")) {
				t.Errorf("expected the attempt to stop after the fence command, got %d Activities and %+v", len(w.runs), v.Record)
			}
		})
	}
}

func TestANodeThatReturnsDuringAnAttemptIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.step()
	w.work()
	w.up("n1", "boot-of-n1")
	w.run(time.Minute)
	if w.record != nil || len(w.runs) != 1 || Fenced(w.node("n1")) {
		t.Errorf("expected the remediation to end at once, got %+v and %d Activities", w.record, len(w.runs))
	}
	w.down("n1", w.now)
	if v := w.step(); v.Record.Attempt != 0 || len(v.Create) > 0 {
		t.Errorf("expected a second outage to begin from the start, got %+v", v.Record)
	}
}

func TestANodeIsFencedAfterTheTimeInItsSpec(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 5 * time.Minute, "90s": 90 * time.Second, "2h": 2 * time.Hour} {
		w := newWorld(t)
		w.pool.Spec.Remediation.After = text
		w.down("n1", noon.Add(time.Second-want))
		if v := w.step(); len(v.Create) > 0 || v.Again != time.Second {
			t.Errorf("after %q: expected to wait for a second, got %+v", text, v)
		}
		w.now = w.now.Add(time.Second)
		if v := w.step(); len(v.Create) != 1 {
			t.Errorf("after %q: expected the fence command, got %+v", text, v.Record)
		}
	}
}

func TestAnAttemptIsRepeatedAfterThePause(t *testing.T) {
	w := newWorld(t)
	w.answers[Power1] = "on"
	w.pool.Spec.Remediation.PauseSeconds = new(int64(300))
	for w.record == nil || w.record.AttemptFailedAt == nil {
		w.step()
		w.work()
	}
	if w.now = w.now.Add(299 * time.Second); len(w.step().Create) > 0 {
		t.Error("expected no command before the pause is over")
	}
	if w.now = w.now.Add(time.Second); len(w.step().Create) != 1 || w.record.Attempt != 2 {
		t.Errorf("expected the second attempt, got %+v", w.record)
	}
}

// Before the remediation is due, nothing about the cluster is read.
func TestAYoungOutageIsNotHeld(t *testing.T) {
	w := newWorld(t)
	w.down("n1", noon)
	in := w.input()
	in.Cluster = Cluster{}
	if v := Decide(in); v.Held != nil || v.Record.Phase != nodesv1.RemediationWaiting || v.Again != 5*time.Minute {
		t.Errorf("expected it to wait for five minutes, got %+v", v)
	}
}

// The host of the fence command can die too. Then the next attempt uses another host, and the first host can be fenced.
func TestACommandThatHangsEndsTheAttempt(t *testing.T) {
	w := newWorld(t)
	w.step()
	v := w.step()
	if v.Again <= 0 {
		t.Fatalf("expected another look, got %+v", v)
	}
	w.now = w.now.Add(v.Again)
	if v = w.step(); v.Record.AttemptFailedAt == nil || !strings.Contains(v.Record.Message, "has not ended within its time") {
		t.Errorf("expected the attempt to fail, got %+v", v.Record)
	}
	if w.now = w.now.Add(time.Minute); len(w.step().Create) != 1 || w.attempts() != 2 {
		t.Errorf("expected a second attempt, got %+v", w.record)
	}
	for _, a := range w.runs {
		a.Spec.Host = "n1"
	}
	if in := w.input(); nodeFencesAnother(in) == nil {
		t.Error("expected a command that has just begun to hold the fencing of its host")
	}
	if w.now = w.now.Add(time.Hour); nodeFencesAnother(w.input()) != nil {
		t.Error("expected commands that hang not to hold it")
	}
}

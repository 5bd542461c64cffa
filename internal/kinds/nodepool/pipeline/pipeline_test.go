// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/nodestate"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func toMap(ac runtime.ApplyConfiguration) (*egov1.Activity, error) {
	raw, err := json.Marshal(ac)
	if err != nil {
		return nil, err
	}
	a := &egov1.Activity{}
	return a, json.Unmarshal(raw, a)
}

func TestStepsRunOneAfterTheOther(t *testing.T) {
	w := newWorld(t, onJoin("a", "b"))
	if v := w.reconcile(); v.Step != "a" || v.State != Running {
		t.Fatalf("expected step a to start, got %+v", v)
	}
	w.is(nodestate.Joining)
	if v := w.reconcile(); v.Starts {
		t.Fatalf("expected step a to start once, got %+v", v)
	}
	w.succeed()
	w.reconcile()
	w.is(nodestate.Joining)
	w.succeed()
	w.reconcile()
	w.is(nodestate.Joined)
	w.reconcile()
	pooltest.Same(t, "the Activities", []string{"join a 1", "join b 1"}, w.names())
}

func TestAStepHasTheRightsOfTheRequesterAndReachesATaintedNode(t *testing.T) {
	w := newWorld(t, onJoin("a"))
	w.pool.Spec.OnJoin.Steps[0].Template = nodesv1.ActivityTemplate{
		Args: []nodesv1.StepArg{"/bin/true", "x"}, ExecUser: "web", ExecCwd: "/tmp", Envs: []nodesv1.StepEnv{"A=b"},
		StartDeadlineSeconds: new(int64(7)), TimeoutSeconds: new(int64(8)), GraceSeconds: new(int64(9)),
	}
	w.reconcile()
	pooltest.Same(t, "the spec", egov1.ActivitySpec{
		Args: []egov1.Arg{"/bin/true", "x"}, ExecUser: "web", ExecCwd: "/tmp", Envs: []egov1.Env{"A=b"}, Host: "n", Placement: egov1.PlacementRepair,
		StartDeadlineSeconds: new(int64(7)), TimeoutSeconds: new(int64(8)), GraceSeconds: new(int64(9)),
		Requester: &egov1.Requester{Username: "ada", Groups: []string{"admins"}},
	}, w.activities[0].Spec)
	if ns := w.activities[0].Namespace; ns != Namespace {
		t.Errorf("expected the Activity in namespace %s, got %s", Namespace, ns)
	}
}

func TestAFailedStepBlocksTheNodeAfterItsRetries(t *testing.T) {
	w := newWorld(t, onJoin("a", "b"), retries(1))
	w.reconcile()
	w.fail()
	if v := w.reconcile(); v.State != Waiting || v.Again != retryWait {
		t.Fatalf("expected a pause before the step is repeated, got %+v", v)
	}
	w.later(retryWait)
	w.reconcile()
	w.fail()
	v := w.reconcile()
	for _, word := range []string{"step a (1 of 2) has failed 2 times", "exit code 3", nodesv1.JoiningTaint, "delete Activity " + w.activities[1].Name, "spec.onJoin"} {
		if !strings.Contains(v.Message, word) {
			t.Errorf("expected the message to contain %q, got %q", word, v.Message)
		}
	}
	if v.State != Failed || v.Again != 0 {
		t.Errorf("expected the pipeline to wait for a user, got %+v", v)
	}
	w.is(nodestate.Joining)
	w.activities = w.activities[:1] // a user deletes the Activity
	w.reconcile()
	pooltest.Same(t, "the Activities", []string{"join a 1", "join a 2"}, w.names())
	w.succeed()
	w.reconcile()
	w.succeed()
	w.reconcile()
	w.is(nodestate.Joined)
}

func TestWithContinueTheNextStepRuns(t *testing.T) {
	w := newWorld(t, onJoin("a", "b"), policy(nodesv1.FailurePolicyContinue))
	w.reconcile()
	w.fail()
	w.reconcile()
	w.succeed()
	marks := Marks(w.node, []*nodesv1.NodePool{w.pool}, w.activities, w.now)
	if got := marks.Ended["gold"]; got != "every step has ended; failed: a" {
		t.Errorf("expected the end to name the failed step, got %q", got)
	}
	w.reconcile()
	w.is(nodestate.Joined)
	pooltest.Same(t, "the Activities", []string{"join a 1", "join b 1"}, w.names())
}

func TestAPipelineThatNeverEndsIsCancelled(t *testing.T) {
	for name, test := range map[string]struct {
		policy nodesv1.FailurePolicy
		want   nodestate.Phase
	}{
		"block":    {nodesv1.FailurePolicyBlock, nodestate.Joining},
		"continue": {nodesv1.FailurePolicyContinue, nodestate.Joined},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, onJoin("a", "b"), timeout(60), policy(test.policy))
			if v := w.reconcile(); v.Again != time.Minute {
				t.Fatalf("expected the next look at the deadline, got %+v", v)
			}
			w.later(time.Minute)
			w.reconcile()
			if !w.activities[0].Spec.Cancel {
				t.Error("expected the running step to be cancelled")
			}
			w.is(test.want)
			w.end(egov1.StateCancelled, "the processes of the command were ended")
			v := w.reconcile()
			if test.policy == nodesv1.FailurePolicyBlock && (v.State != TimedOut || !strings.Contains(v.Message, "within 1m0s: step a (1 of 2) has failed once")) {
				t.Errorf("expected the message to name the step, got %+v", v)
			}
			pooltest.Same(t, "the Activities", []string{"join a 1"}, w.names())
		})
	}
}

func TestMembersDoNotJoinAgain(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.pool.Spec.OnJoin = steps("a")
	w.reconcile()
	w.is("")
	if len(w.activities) > 0 {
		t.Errorf("expected no step on a node that was a member before, got %v", w.names())
	}
	joined := newWorld(t, onJoin("a"))
	joined.reconcile()
	joined.succeed()
	joined.reconcile()
	joined.pool.Spec.OnJoin = steps("other")
	joined.reconcile()
	joined.is(nodestate.Joined)
	joined.pool.Spec.OnJoin = nil
	joined.reconcile()
	joined.is(nodestate.Joined)
	pooltest.Same(t, "the Activities", []string{"join a 1"}, joined.names())
}

func TestANodeThatRegistersAgainJoinsAgain(t *testing.T) {
	w := newWorld(t, onJoin("a"))
	w.reconcile()
	w.succeed()
	w.reconcile()
	w.is(nodestate.Joined)
	w.node.UID = "uid-of-the-new-node"
	w.reconcile()
	w.is(nodestate.Joining)
	pooltest.Same(t, "the Activities", []string{"join a 1", "join a 1"}, w.names())
	if w.activities[0].Name == w.activities[1].Name {
		t.Error("expected another name for the Activity of another node")
	}
}

func TestAChangedPipelineStartsAgainOnNodesThatJoin(t *testing.T) {
	w := newWorld(t, onJoin("a", "b"))
	w.reconcile()
	w.fail()
	if v := w.reconcile(); v.State != Failed {
		t.Fatalf("expected the pipeline to have failed, got %+v", v)
	}
	w.pool.Spec.OnJoin = steps("c")
	w.reconcile()
	w.succeed()
	w.reconcile()
	w.is(nodestate.Joined)
	pooltest.Same(t, "the Activities", []string{"join a 1", "join c 1"}, w.names())
}

func TestAnEarlierStepMustEndBeforeAChangedPipelineStarts(t *testing.T) {
	w := newWorld(t, onJoin("a"))
	w.reconcile()
	w.later(time.Second)
	w.pool.Spec.OnJoin = steps("c")
	if v := w.reconcile(); v.State != Waiting || !strings.Contains(v.Message, "earlier pipeline has not ended") {
		t.Errorf("expected the new pipeline to wait, got %+v", v)
	}
	if !w.activities[0].Spec.Cancel {
		t.Error("expected the step of the old pipeline to be cancelled")
	}
	w.end(egov1.StateCancelled, "")
	w.reconcile()
	pooltest.Same(t, "the Activities", []string{"join a 1", "join c 1"}, w.names())
}

func TestTheFieldCanBeRemovedWhileANodeJoins(t *testing.T) {
	w := newWorld(t, onJoin("a"))
	w.reconcile()
	w.pool.Spec.OnJoin = nil
	w.reconcile()
	w.is("")
	if !w.activities[0].Spec.Cancel {
		t.Error("expected the running step to be cancelled")
	}
}

func TestANodeKeepsItsSettingsUntilItHasLeft(t *testing.T) {
	w := newWorld(t, pooltest.WantsLabel("tier", "gold"), pooltest.WantsTaint("only", "gold", pooltest.NoSchedule), onLeave("a"))
	w.reconcile()
	w.change(pooltest.LacksRole("gold"))
	w.reconcile()
	w.is(nodestate.Leaving)
	if w.node.Labels["tier"] != "gold" || len(w.node.Spec.Taints) != 1 {
		t.Errorf("expected the node to keep the settings, got %v %v", w.node.Labels, w.node.Spec.Taints)
	}
	if _, there := w.node.Labels["node-role.kubernetes.io/gold"]; there {
		t.Error("expected the role label to stay away")
	}
	w.succeed()
	w.reconcile()
	w.is("")
	if len(w.node.Labels) > 0 || len(w.node.Spec.Taints) > 0 || w.node.Annotations[nodestate.LedgerAnnotation] != "" {
		t.Errorf("expected nothing to be left, got %v %v %v", w.node.Labels, w.node.Spec.Taints, w.node.Annotations)
	}
}

func TestANodeThatLeavesWaitsOnlyUntilTheTimeout(t *testing.T) {
	for name, prepare := range map[string]func(*world){
		"the step runs on":                 func(*world) {},
		"the step fails, and must succeed": func(w *world) { policy(nodesv1.FailurePolicyBlock)(w.pool); w.fail() },
		"the node does not respond": func(w *world) {
			w.activities = nil
			w.node.Status.Conditions[0].Status = corev1.ConditionUnknown
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, onLeave("a"), timeout(60))
			w.reconcile()
			pooltest.BeingDeleted(w.pool)
			w.reconcile()
			prepare(w)
			if v := w.reconcile(); v.Again <= 0 || v.Starts {
				t.Errorf("expected the pipeline to wait for its deadline, got %+v", v)
			}
			w.is(nodestate.Leaving)
			w.later(time.Minute)
			w.reconcile()
			w.is("")
		})
	}
}

func TestANodeThatLeavesWhileItJoinsFirstEndsTheStep(t *testing.T) {
	w := newWorld(t, onJoin("a"), onLeave("b"))
	w.reconcile()
	w.change(pooltest.LacksRole("gold"))
	if v := w.reconcile(); v.State != Waiting {
		t.Errorf("expected onLeave to wait for the step of onJoin, got %+v", v)
	}
	w.is(nodestate.Leaving)
	if !w.activities[0].Spec.Cancel {
		t.Error("expected the step of onJoin to be cancelled")
	}
	w.end(egov1.StateCancelled, "")
	w.reconcile()
	w.succeed()
	w.reconcile()
	w.is("")
	pooltest.Same(t, "the Activities", []string{"join a 1", "leave b 1"}, w.names())
}

func TestANodeThatComesBackWhileItLeavesJoinsAgain(t *testing.T) {
	w := newWorld(t, onJoin("a"), onLeave("b"))
	w.reconcile()
	w.succeed()
	w.reconcile()
	w.later(time.Minute)
	w.change(pooltest.LacksRole("gold"))
	w.reconcile()
	w.change(pooltest.Role("gold"))
	w.later(time.Minute)
	w.reconcile()
	w.is(nodestate.Joining)
	w.end(egov1.StateCancelled, "")
	w.reconcile()
	w.succeed()
	w.reconcile()
	w.is(nodestate.Joined)
	pooltest.Same(t, "the Activities", []string{"join a 1", "leave b 1", "join a 1"}, w.names())
}

func TestNoStepStartsOnANodeThatDoesNotRespond(t *testing.T) {
	w := newWorld(t, onJoin("a"))
	w.node.Status.Conditions[0].Status = corev1.ConditionUnknown
	if v := w.reconcile(); v.Starts || !strings.Contains(v.Message, "does not respond") {
		t.Errorf("expected the step to wait for the node, got %+v", v)
	}
	w.is(nodestate.Joining)
	pooltest.IsNotReady(w.node) // a step may set up the network, without which a node is not Ready
	if v := w.reconcile(); !v.Starts {
		t.Errorf("expected the step to start, got %+v", v)
	}
}

func TestAFrozenPoolChangesNoMark(t *testing.T) {
	for name, freeze := range map[string]pooltest.PoolOption{"paused": pooltest.IsPaused(), "in dry run": pooltest.InDryRun()} {
		w := newWorld(t, onJoin("a"))
		w.reconcile()
		w.succeed()
		freeze(w.pool)
		w.reconcile()
		if w.phase() != nodestate.Joining {
			t.Errorf("%s: expected the node to stay as it is, got %q", name, w.phase())
		}
		fresh := newWorld(t, onJoin("a"), freeze)
		freeze(fresh.pool)
		if fresh.reconcile(); fresh.phase() != "" || fresh.tainted() {
			t.Errorf("%s: expected no new member, got %q", name, fresh.phase())
		}
	}
}

func TestATaintWithoutAPipelineIsRemoved(t *testing.T) {
	w := newWorld(t)
	w.change(pooltest.HasTaint(nodesv1.JoiningTaint, "", pooltest.NoSchedule), pooltest.LacksRole("gold"))
	w.reconcile()
	w.is("")
	w = newWorld(t, onJoin("a"))
	w.change(pooltest.HasTaint(nodesv1.JoiningTaint, "", pooltest.NoSchedule)) // from admission
	w.reconcile()
	w.is(nodestate.Joining)
	if len(w.node.Spec.Taints) != 1 {
		t.Errorf("expected one taint, got %v", w.node.Spec.Taints)
	}
}

func TestOldActivitiesAreDeleted(t *testing.T) {
	w := newWorld(t, onJoin("a"))
	w.reconcile()
	for i := range history + 3 {
		a := &egov1.Activity{}
		a.Name, a.UID = fmt.Sprint("old-", i), types.UID(fmt.Sprint("old-", i))
		a.CreationTimestamp, a.Status.Prosta = metav1.NewTime(w.now.Add(-time.Duration(i)*time.Minute)), egov1.StateSucceeded
		a.Labels = map[string]string{common.OwnerLabel: string(w.pool.UID)}
		a.Spec.Host = "n"
		w.activities = append(w.activities, a)
	}
	runs := Runs(w.pool, []*corev1.Node{w.node}, w.activities, w.now)
	stays, gone := Stays(runs, w.activities), 0
	for _, a := range w.activities {
		if !stays(a) {
			gone++
		}
	}
	if gone != 3 || stays(w.activities[len(w.activities)-1]) || !stays(w.activities[0]) {
		t.Errorf("expected the three oldest Activities to be deleted, got %d", gone)
	}
	if !Surplus(w.activities, stays) || Surplus(w.activities[:5], stays) {
		t.Error("expected a surplus only with Activities that are not kept")
	}
}

func TestOnlyActivitiesInTheNamespaceOfTheOperatorCount(t *testing.T) {
	a := &egov1.Activity{}
	a.Namespace, a.Spec.Host = "default", "n"
	a.Labels = map[string]string{PoolLabel: "gold", common.OwnerLabel: "u"}
	if keys := IndexKeys(a); keys != nil {
		t.Errorf("expected no keys for an Activity of a user, got %v", keys)
	}
	a.Namespace = Namespace
	pooltest.Same(t, "the keys", []string{"node/n", "pool/u"}, IndexKeys(a))
}

func TestTheRequesterMustBeRecorded(t *testing.T) {
	for _, record := range []string{"", "x", "{}"} {
		pool := pooltest.Pool("gold", pooltest.PoolAnnotation(common.RequesterAnnotation, record))
		if who := Requester(pool); who != nil {
			t.Errorf("expected no requester in %q, got %v", record, who)
		}
	}
}

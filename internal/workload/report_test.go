// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

type rolloutOption func(*Rollout)

// rolled returns a Rollout whose pods are all new and ready.
func rolled(replicas int32, options ...rolloutOption) Rollout {
	r := Rollout{Deployment: newDeployment(replicas), Sets: []appsv1.ReplicaSet{*newSet("web-2", 2), *newSet("web-1", 1)}}
	for i := range replicas {
		r.Pods = append(r.Pods, *podOf("web-2", fmt.Sprint("new-", i), isReady))
	}
	for _, option := range options {
		option(&r)
	}
	return r
}

// counts sets the numbers of updated, available and all pods in the status of the Deployment.
func counts(updated, available, all int32) rolloutOption {
	return func(r *Rollout) {
		s := &r.Deployment.Status
		s.UpdatedReplicas, s.AvailableReplicas, s.Replicas = updated, available, all
	}
}

// withPods replaces the pods of the Rollout.
func withPods(pods ...*corev1.Pod) rolloutOption {
	return func(r *Rollout) {
		r.Pods = nil
		for _, pod := range pods {
			r.Pods = append(r.Pods, *pod)
		}
	}
}

func refuses(words string) rolloutOption {
	return func(r *Rollout) {
		r.Sets[0].Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: words}}
	}
}

func isUnseen(r *Rollout) { r.Deployment.Generation++ }

func outcome(kind string, action ensure.Action) kit.Outcome {
	result := ensure.Result{Action: action}
	result.Ref.Kind = kind
	return kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}, result}}
}

// conditionAfter returns one condition after a call of Report.
func conditionAfter(r Rollout, wanted int32, done kit.Outcome, kind string) string {
	return reportedBy(kind, func(set condition.Set) { r.Report(set, wanted, done) })
}

// reportedBy returns the status, reason and message of one condition after report was called.
func reportedBy(kind string, report func(condition.Set)) string {
	var list []metav1.Condition
	report(condition.Set{Conditions: &list, Generation: 1, Now: time.Unix(1, 0)})
	c := meta.FindStatusCondition(list, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

var (
	starting = podOf("web-2", "new-1")
	stuck    = podOf("web-2", "new-2", waits("web", "ErrImagePull", "not found"))
	old      = podOf("web-1", "old-0", isReady)
	oldStuck = podOf("web-1", "old-1", waits("web", "CrashLoopBackOff", ""))
	// lostOld is an old pod on a node that no longer responds.
	lostOld = podOf("web-1", "old-2", isDeleted, isOn("n1"), has(corev1.PodReady, corev1.ConditionFalse, ""), has(corev1.ContainersReady, corev1.ConditionTrue, ""))
)

func TestRolledOutReportsWhatBlocksIt(t *testing.T) {
	nothing, changed := kit.Outcome{}, outcome("Deployment", ensure.Applied)
	for name, test := range map[string]struct {
		wanted  int32
		rollout Rollout
		done    kit.Outcome
		want    string
	}{
		"nothing is there yet":             {2, Rollout{}, nothing, "False Applying: The pods are being created"},
		"all are ready":                    {2, rolled(2), nothing, "True AllPodsReady: 2 of 2 pods are ready"},
		"none are wanted":                  {0, rolled(0), nothing, "True ScaledToZero: The spec requests no pods"},
		"none are wanted, one is left":     {0, rolled(0, withPods(podOf("web-2", "new-0", isGoing))), nothing, "False Updating: The last pods are being deleted"},
		"none are wanted, one hangs":       {0, rolled(0, withPods(lostOld)), nothing, "True ScaledToZero: The spec requests no pods"},
		"one hangs beside those wanted":    {1, rolled(1, withPods(podOf("web-2", "a", isReady), lostOld)), nothing, "True AllPodsReady: 1 of 1 pods are ready"},
		"none are wanted, one is counted":  {0, rolled(0, counts(1, 0, 1)), nothing, "False Updating: The last pods are being deleted"},
		"it grows":                         {5, rolled(3), changed, "False Updating: The number of pods is changing from 3 to 5"},
		"it shrinks to none":               {0, rolled(3), changed, "False Updating: The number of pods is changing from 3 to 0"},
		"one is being made":                {2, rolled(2, counts(2, 1, 2)), nothing, "False Updating: 1 of 2 pods are ready"},
		"one starts":                       {2, rolled(2, counts(2, 1, 2), withPods(podOf("web-2", "new-0", isReady), starting)), nothing, "False Updating: 1 of 2 pods are ready; new-1: the pod is starting"},
		"one may need a hand":              {2, rolled(2, counts(2, 0, 2), withPods(starting, stuck)), nothing, "False PodsNotReady: 0 of 2 pods are ready; new-2: container web: ErrImagePull: not found"},
		"a quota refuses one":              {2, rolled(2, counts(2, 1, 2), refuses("exceeded quota: q")), nothing, "False PodsMissing: 1 of 2 pods are ready; the API server refuses a pod: exceeded quota: q"},
		"a quota refuses one of the first": {3, rolled(3, counts(2, 2, 2), refuses("exceeded quota: q")), nothing, "False PodsMissing: 2 of 3 pods are ready; the API server refuses a pod: exceeded quota: q"},
		"one too many is left":             {1, rolled(1, withPods(podOf("web-2", "a", isReady), old)), nothing, "False Updating: 1 of 1 pods are ready, and 1 surplus pods must be removed"},
		"a quota refuses a new one":        {2, rolled(2, counts(0, 2, 2), withPods(old), refuses("exceeded quota: q")), nothing, "False PodsMissing: 0 of 2 new pods are ready, and 1 old pod still serves requests; the API server refuses a pod: exceeded quota: q"},
		"a change goes on":                 {2, rolled(2, counts(1, 2, 3), withPods(old, starting)), nothing, "False Updating: 0 of 2 new pods are ready, and 1 old pod still serves requests; new-1: the pod is starting"},
		"the last old one goes":            {2, rolled(2, counts(2, 3, 3)), nothing, "False Updating: 2 of 2 new pods are ready, and no old pod serves requests"},
		"an old one is in trouble":         {2, rolled(2, counts(1, 1, 3), withPods(oldStuck, starting)), nothing, "False Updating: 0 of 2 new pods are ready, and no old pod serves requests; new-1: the pod is starting"},
		"the new one cannot start":         {1, rolled(1, counts(1, 1, 2), withPods(old, stuck)), nothing, "False PodsNotReady: 0 of 1 new pods are ready, and 1 old pod still serves requests; new-2: container web: ErrImagePull: not found"},
		"one that goes is no trouble":      {1, rolled(1, counts(1, 0, 1), withPods(podOf("web-2", "a", isDeleted), starting)), nothing, "False Updating: 0 of 1 pods are ready; new-1: the pod is starting"},
		"one that must go cannot":          {1, rolled(1, counts(1, 0, 1), withPods(lostOld, starting)), nothing, "False PodsNotReady: 0 of 1 pods are ready; old-2: the pod is being deleted, and node n1 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service"},
		"and nothing comes before it goes": {1, rolled(1, counts(0, 0, 0), withPods(lostOld)), nothing, "False PodsNotReady: 0 of 1 pods are ready; old-2: the pod is being deleted, and node n1 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service"},
		"and a new one may need a hand":    {1, rolled(1, counts(1, 0, 1), withPods(lostOld, stuck)), nothing, "False PodsNotReady: 0 of 1 pods are ready; new-2: container web: ErrImagePull: not found"},
		"the controller has not looked":    {2, rolled(2, isUnseen), nothing, "False Updating: The Deployment controller has not processed the last change yet"},
		"the facts are from before":        {2, rolled(2), changed, "False Updating: The Deployment controller has not processed the last change yet"},
		"the cache is behind":              {2, rolled(2), outcome("Deployment", ensure.Waiting), "False Updating: The Deployment controller has not processed the last change yet"},
		"drift was repaired":               {2, rolled(2), outcome("Deployment", ensure.Repaired), "True AllPodsReady: 2 of 2 pods are ready"},
		"another child changed":            {2, rolled(2), outcome("Service", ensure.Applied), "True AllPodsReady: 2 of 2 pods are ready"},
		"the Deployment was made just now": {2, Rollout{}, outcome("Deployment", ensure.Created), "False Applying: The pods are being created"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "RolledOut", test.want, conditionAfter(test.rollout, test.wanted, test.done, common.ConditionRolledOut))
		})
	}
}

// The new pod waits for a volume that a pod of an earlier Deployment still uses. That pod does not belong to the new
// Deployment.
func TestAPodOfAnEarlierDeploymentIsNamedWhereItDoesNotGo(t *testing.T) {
	deployment := newDeployment(1)
	deployment.Status.AvailableReplicas, deployment.Status.ReadyReplicas = 0, 0
	objects := []client.Object{deployment, newSet("web-1", 1), podOf("web-1", "new")}
	lost, theirs := former("ReplicaSet", "web-0", "old", onLostNode), former("ReplicaSet", "theirs-0", "their-old", onLostNode)
	for name, test := range map[string]struct {
		former client.Object
		want   string
	}{
		"on a node that is lost": {lost, "False PodsNotReady: 0 of 1 pods are ready; old: the pod is being deleted, and node node2 does not answer; if the node is gone for good, delete the Node or taint it node.kubernetes.io/out-of-service"},
		"of another owner's":     {theirs, "False Updating: 0 of 1 pods are ready; new: the pod is starting"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "the condition", test.want, conditionAfter(observe(t, append(objects, test.former)...), 1, kit.Outcome{}, "RolledOut"))
		})
	}
}

func TestAvailableReportsWhetherAnyPodServesOldOrNew(t *testing.T) {
	for name, test := range map[string]struct {
		rollout Rollout
		want    string
	}{
		"nothing is there yet":      {Rollout{}, "False NotServing: No pod is ready to serve requests"},
		"all are ready":             {rolled(2), "True Serving: At least one pod is ready to serve requests"},
		"only an old one":           {rolled(2, withPods(old, stuck)), "True Serving: At least one pod is ready to serve requests"},
		"none":                      {rolled(2, withPods(stuck)), "False NotServing: No pod is ready to serve requests"},
		"one that goes":             {rolled(2, withPods(podOf("web-2", "a", isReady, isDeleted))), "False NotServing: No pod is ready to serve requests"},
		"none are wanted":           {rolled(0), "False ScaledToZero: The spec requests no pods"},
		"none are wanted, one left": {rolled(0, withPods(old)), "True Serving: At least one pod is ready to serve requests"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "Available", test.want, conditionAfter(test.rollout, test.rollout.Replicas(), kit.Outcome{}, common.ConditionAvailable))
		})
	}
}

// The message of Available must not contain the number of pods. Otherwise, opcrew would write the condition again for
// every pod of a large rollout.
func TestAvailableSaysTheSameHoweverManyPodsServe(t *testing.T) {
	first := conditionAfter(rolled(1), 1, kit.Outcome{}, common.ConditionAvailable)
	same(t, "Available", first, conditionAfter(rolled(9), 9, kit.Outcome{}, common.ConditionAvailable))
}

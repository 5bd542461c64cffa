// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// scale sets the replicas through the scale subresource, as kubectl scale and KEDA do.
func scale(t *testing.T, namespace string, replicas int32) {
	t.Helper()
	to := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	err := env.Client.SubResource("scale").Update(t.Context(), deploymentOf(namespace), client.WithSubResourceBody(to))
	if err != nil {
		t.Fatalf("scaling to %d: %v", replicas, err)
	}
}

func expectReplicas(t *testing.T, namespace string, want int32) {
	t.Helper()
	if got := *current(t, deploymentOf(namespace)).Spec.Replicas; got != want {
		t.Errorf("%d replicas, expected %d", got, want)
	}
}

// writes expects that opcrew writes the child exactly once. The Deployment controller may write the status between
// opcrew's read and write. If opcrew's write keeps values of another manager, this causes a conflict. Then writes calls
// Ensure again.
func (p *process) writes(owner client.Object, child ensure.Child, want ensure.Action) {
	p.t.Helper()
	mark := env.Audit.Mark(p.t)
	eventually.True(p.t, eventually.Long, "the write is taken", func() error {
		result, err := p.Ensure(p.t.Context(), owner, child, false)
		p.catchesUp(result.Ref)
		switch {
		case apierrors.IsConflict(err):
			return err
		case err != nil || result.Action != want:
			p.t.Fatalf("%s: %s (%v), expected %s", result.Ref, result.Action, err, want)
		}
		return nil
	})
	calls := env.Audit.Since(p.t, mark).By(p.user)
	if taken := len(calls.Writes()) - len(calls.Writes().Refused()); taken != 1 {
		p.t.Errorf("%d writes, expected 1:\n%s", taken, calls)
	}
}

func TestTheReplicasOfAnAutoscalerAreNeverResetAndCostNothing(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	ref := p.ensures(owner, scaledDeployment(ns, "web:1", 2), ensure.Created, creation("deployments")).Ref
	expectReplicas(t, ns, 2)
	create(t, &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MinReplicas:    new(int32(4)), MaxReplicas: 6,
		},
	})
	eventually.True(t, eventually.Long, "the autoscaler scales to its minimum of 4", func() error {
		if got := *current(t, deploymentOf(ns)).Spec.Replicas; got != 4 {
			return fmt.Errorf("%d replicas", got)
		}
		return nil
	})
	p.catchesUp(ref)
	p.ensures(owner, scaledDeployment(ns, "web:1", 2), ensure.Unchanged, free)
	p.ensures(owner, scaledDeployment(ns, "web:1", 3), ensure.Unchanged, free)

	p.writes(owner, scaledDeployment(ns, "web:2", 2), ensure.Applied)
	expectReplicas(t, ns, 4)
	next := start(t, ns, setup{})
	next.ensures(owner, scaledDeployment(ns, "web:2", 2), ensure.Unchanged, free)
	edit(t, "kubectl-edit", deploymentOf(ns), `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"web:3"}]`)
	next.catchesUp(ref)
	next.writes(owner, scaledDeployment(ns, "web:2", 2), ensure.Repaired)
	expectReplicas(t, ns, 4)
}

func TestCarriedReplicasAreKept(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	ref := p.ensures(owner, scaledDeployment(ns, "web:1", 2), ensure.Created, creation("deployments")).Ref
	for _, replicas := range []int32{7, 0, 1} {
		scale(t, ns, replicas)
		p.catchesUp(ref)
		p.ensures(owner, scaledDeployment(ns, "web:1", 2), ensure.Unchanged, free)
		p.writes(owner, scaledDeployment(ns, fmt.Sprintf("web:%d", replicas+10), 2), ensure.Applied)
		expectReplicas(t, ns, replicas)
		p.writes(owner, scaledDeployment(ns, "web:1", 2), ensure.Applied)
		expectReplicas(t, ns, replicas)
	}

	// The autoscaler was removed, so opcrew owns the replicas again.
	p.writes(owner, deployment(ns, "web:1", 2), ensure.Applied)
	expectReplicas(t, ns, 2)
}

func TestTheReplicasSurviveTheLossOfTheCachesLabel(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	ref := p.ensures(owner, scaledDeployment(ns, "web:1", 2), ensure.Created, creation("deployments")).Ref
	scale(t, ns, 9)
	edit(t, "kustomize", deploymentOf(ns), `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
	p.catchesUp(ref)
	p.writes(owner, scaledDeployment(ns, "web:1", 2), ensure.Repaired)
	expectReplicas(t, ns, 9)
}

// The autoscaler has changed the replicas, but the cache does not show the change yet. opcrew must not restore the old
// number.
func TestAChangeByTheAutoscalerThatTheCacheDoesNotShowIsAConflict(t *testing.T) {
	ns := env.Namespace(t)
	events := &gate{}
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{events: events})
	ref := p.ensures(owner, scaledDeployment(ns, "web:1", 2), ensure.Created, creation("deployments")).Ref
	events.close()
	defer events.open()
	scale(t, ns, 9)
	for range 5 { // a contest begins after three repairs, but conflicts do not count as repairs
		result, err := p.Ensure(t.Context(), owner, scaledDeployment(ns, "web:2", 2), false)
		if !apierrors.IsConflict(err) || result.Action != "" {
			t.Fatalf("%q (%v), expected a conflict and nothing done", result.Action, err)
		}
	}
	expectReplicas(t, ns, 9)
	events.open()
	p.catchesUp(ref)
	p.writes(owner, scaledDeployment(ns, "web:2", 2), ensure.Applied)
	expectReplicas(t, ns, 9)
}

// The cache still holds an object that was already deleted. The apply names the UID of that object, so that it cannot
// adopt another object with the same name. The API server returns a conflict, and opcrew decides again.
func TestAChildThatWasDeletedBehindTheCacheIsAConflictAndThenRecreated(t *testing.T) {
	ns := env.Namespace(t)
	events := &gate{}
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{events: events})
	ref := p.ensures(owner, scaledDeployment(ns, "web:1", 2), ensure.Created, creation("deployments")).Ref
	scale(t, ns, 9)
	p.catchesUp(ref)
	events.close()
	if err := env.Client.Delete(t.Context(), deploymentOf(ns)); err != nil {
		t.Fatal(err)
	}
	if result, err := p.Ensure(t.Context(), owner, scaledDeployment(ns, "web:2", 2), false); !apierrors.IsConflict(err) {
		t.Errorf("%s (%v), expected a conflict", result.Action, err)
	}
	events.open()
	eventually.True(t, time.Minute, "the child is recreated", func() error {
		result, err := p.Ensure(t.Context(), owner, scaledDeployment(ns, "web:2", 2), false)
		if err == nil && result.Action != ensure.Created && result.Action != ensure.Unchanged {
			err = fmt.Errorf("%q was done", result.Action)
		}
		return err
	})
	expectReplicas(t, ns, 2)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// sizes returns the sizes to which a test scales a cluster, one after the other.
func sizes() []int { return []int{3, 5, 3, 1} }

func TestNoRequestFailsWhileAnEtcdClusterIsScaled(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			e.create(t, asked(1, etcd.V36, how))
			e.during(t, "scaling 1-3-5-3-1", false, func() {
				for _, size := range sizes() {
					e.scale(t, size)
					e.await(t, size, etcd.V36)
				}
			})
		})
	}
}

func TestNoRequestFailsWhileFieldsOfAnEtcdClusterChange(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withClaims()))
	members := names(e.pods(t))
	e.during(t, "a change of a variable of etcd", false, func() {
		e.edit(t, `{"pod":{"etcdEnv":[{"name":"ETCD_HEARTBEAT_INTERVAL","value":"150"}]}}`)
		e.await(t, 3, etcd.V36)
		if now := names(e.pods(t)); strings.Join(now, " ") != strings.Join(members, " ") {
			t.Errorf("members with volumes should not be replaced; they were %q and are %q", members, now)
		}
		for _, p := range e.pods(t) {
			if !hasVariable(p, "ETCD_HEARTBEAT_INTERVAL") {
				t.Errorf("the status says that %s is up to date, but its pod lacks the variable", p.Name)
			}
		}
	})
}

// A container accepts some changes of its resources while it runs. Such a change must not restart a member, nor replace
// a member that has an emptyDir.
func TestMembersOfAnEtcdClusterAreGivenOtherResourcesWhileTheyRun(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	how := map[string]any{"pod": map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "256Mi"}}}}
	e.create(t, asked(3, etcd.V36, how))
	before := e.pods(t)
	e.during(t, "a change of resources", false, func() {
		e.edit(t, `{"pod":{"resources":{"limits":{"memory":"384Mi"},"requests":{"memory":"128Mi","cpu":"50m"}}}}`)
		e.await(t, 3, etcd.V36)
	})
	after := e.pods(t)
	for i, p := range after {
		if len(after) != len(before) || p.UID != before[i].UID {
			t.Fatalf("the pods should not be replaced; they were %q and are %q", names(before), names(after))
		}
		if n := p.Status.ContainerStatuses[0].RestartCount; n > 0 {
			t.Errorf("%s was restarted %d times", p.Name, n)
		}
	}
	eventually.True(t, time.Minute, "the kubelets have applied the new resources", func() error {
		for _, p := range e.pods(t) {
			if has := p.Status.ContainerStatuses[0].Resources; has == nil || has.Limits.Memory().String() != "384Mi" {
				return fmt.Errorf("the container of %s has the resources %v", p.Name, has)
			}
		}
		return nil
	})
}

func hasVariable(p corev1.Pod, name string) bool {
	for _, c := range p.Spec.Containers {
		for _, v := range c.Env {
			if c.Name == "etcd" && v.Name == name {
				return true
			}
		}
	}
	return false
}

// step returns a text that changes with each step of a membership change. It contains the members in the status, and
// for each pod its name, its image, how its etcd starts, and whether the pod is being deleted.
func (e *etcdTest) step(ctx context.Context) (string, error) {
	pods := &corev1.PodList{}
	if err := e.List(ctx, pods, client.InNamespace(e.ns), client.MatchingLabels{"etcd_cluster": articleEtcd}); err != nil {
		return "", err
	}
	o := e.object(nil)
	if err := e.Get(ctx, client.ObjectKeyFromObject(o), o); client.IgnoreNotFound(err) != nil {
		return "", err
	}
	membership, _, _ := unstructured.NestedSlice(o.Object, "status", "membership")
	out := []string{fmt.Sprint(membership)}
	for _, p := range pods.Items {
		out = append(out, fmt.Sprint(p.Name, p.DeletionTimestamp != nil, p.Annotations["etcd.opcrew.io/start"], p.Spec.Containers[0].Image))
	}
	return strings.Join(out, " "), nil
}

func TestAnOperatorKilledAtAnyStepOfAnEtcdClusterLosesNothing(t *testing.T) {
	e := newEtcdTest(t, etcd.V35, etcd.V36)
	e.create(t, asked(1, etcd.V35, withClaims()))
	id := e.await(t, 1, etcd.V35).ClusterID
	e.during(t, "scaling and an upgrade with the operator killed at steps", false, func() {
		for _, size := range sizes()[:3] {
			stop := e.killAtSteps(t, dataLayer, e.step)
			e.scale(t, size)
			e.settle(t, stop, fmt.Sprint("scaling to ", size), size, etcd.V35)
		}
		stop := e.killAtSteps(t, dataLayer, e.step)
		e.edit(t, fmt.Sprintf(`{"version":%q}`, etcd.V36))
		e.settle(t, stop, "the upgrade", 3, etcd.V36)
	})
	if now := e.await(t, 3, etcd.V36).ClusterID; now != id {
		t.Errorf("the cluster ID was %s and is %s", id, now)
	}
}

// settle waits up to a minute while the operator is killed again and again. Then it stops the kills and waits until the
// change is complete.
func (e *etcdTest) settle(t *testing.T, stop func() int, what string, size int, version string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if s, generation := e.status(t); s.ObservedGeneration == generation && s.Size == size && len(s.Members.Ready) == size && s.CurrentVersion == version {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("during %s the operator was killed %d times", what, stop())
	e.await(t, size, version)
	e.waitOperator(t, dataLayer)
}

func TestAnEtcdClusterWhoseOperatorIsKilledAtBirthFormsOneCluster(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			stop := e.killAtSteps(t, dataLayer, e.step)
			defer stop()
			e.create(t, asked(3, etcd.V36, how))
			t.Logf("the operator was killed %d times", stop())
			e.during(t, "no change", false, func() {})
			e.waitOperator(t, dataLayer)
		})
	}
}

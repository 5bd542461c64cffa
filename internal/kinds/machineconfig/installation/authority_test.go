// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/nodepatch"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheFingerprintIsThatOfTheCAOfTheOperator(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	write(t, file, "two")
	for want, config := range map[string]*rest.Config{
		"":                                      {},
		machineorder.Fingerprint([]byte("one")): {TLSClientConfig: rest.TLSClientConfig{CAData: []byte("one"), CAFile: file}},
		machineorder.Fingerprint([]byte("two")): {TLSClientConfig: rest.TLSClientConfig{CAFile: file}},
	} {
		if got, err := authorityOf(config).fingerprint(); err != nil || got != want {
			t.Errorf("expected the fingerprint %q, got %q and %v", want, got, err)
		}
	}
	if _, err := (authority{file: file + "-missing"}).fingerprint(); err == nil {
		t.Error("expected an error for a file that cannot be read")
	}
}

func TestAChangeOfTheCAEnqueuesAllNodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	write(t, file, "one")
	clk := clocktesting.NewFakeClock(time.Now())
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	request := reconcile.Request{NamespacedName: client.ObjectKey{Name: "node-a"}}
	all := func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{request} }
	if err := (authority{file: file}).renewals(clk, all).Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	pass := func() {
		for !clk.HasWaiters() {
			time.Sleep(time.Millisecond)
		}
		clk.Step(renewalWait)
	}
	pass()
	pass() // the first look is complete
	if q.Len() != 0 {
		t.Error("expected no work without a change")
	}
	write(t, file, "two")
	pass()
	if got, _ := q.Get(); got != request {
		t.Errorf("expected the node to be enqueued, got %v", got)
	}
}

func TestAnotherCARenewsTheCredentialsAtThePaceOfAnUpgrade(t *testing.T) {
	renewed := origin{image: image, ca: "c0ffee", pinned: true}
	node := newNode(map[string]string{nodepatch.AgentAnnotation: agent}, "gold")
	f := facts{pools: []*mcfgv1.MachineConfigPool{newPool("gold")}, origin: renewed}
	if got := decide(node, f); got.task != install || got.agent != "" {
		t.Errorf("expected a new installation, got %+v", got)
	}
	f.pods = []*corev1.Pod{podOf(node, install, from, corev1.PodSucceeded)}
	if got := decide(node, f); got.task != install || got.agent != "" {
		t.Errorf("expected the pod with the earlier CA not to count, got %+v", got)
	}
	f.pods = slices.Repeat(f.pods, mostPods)
	if got := decide(node, f); got.task != "" || got.again != queueWait {
		t.Errorf("expected the node to wait for the pods of other nodes, got %+v", got)
	}
	f.pods = []*corev1.Pod{podOf(node, install, renewed, corev1.PodSucceeded)}
	got := decide(node, f)
	if want := image + " machine-1 c0ffee"; got.agent != want {
		t.Errorf("expected the annotation %q, got %+v", want, got)
	}
	node.Annotations[nodepatch.AgentAnnotation] = got.agent
	if got := decide(node, f); got.task != "" {
		t.Errorf("expected nothing more to do, got %+v", got)
	}
	f.pools[0].Spec.Paused, f.ca = true, "abad1dea"
	if got := decide(node, f); got.task != "" {
		t.Errorf("expected a paused pool to begin nothing, got %+v", got)
	}
}

func TestThePodChecksTheCAThatThePodsHave(t *testing.T) {
	for want, origin := range map[string]origin{"--ca-fingerprint=c0ffee": {image, "c0ffee", true}, "": {image, "c0ffee", false}} {
		args := pod(newNode(nil), install, origin).Spec.Containers[0].Args
		if want != "" && !slices.Contains(args, want) || want == "" && len(args) != 3 {
			t.Errorf("expected the argument %q, got %q", want, args)
		}
	}
}

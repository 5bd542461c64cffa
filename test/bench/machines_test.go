// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// machinePool is the name of the pool, and of its MachineConfig's role.
const machinePool = "bench"

// makeMachines installs the admission policies of MachineConfigs, and creates the nodes of the pool.
func makeMachines(t *testing.T) []string {
	t.Helper()
	env.Apply(t, "config/namespace/namespace.yaml")
	for _, object := range operator.Built(t, env.Root, "config/machineconfig") {
		env.ApplyObject(t, object)
	}
	eventually.True(t, time.Minute, "the API server records who creates a pool", func() error {
		p := newMachinePool()
		if err := env.Client.Create(t.Context(), p, client.DryRunAll); err != nil || p.Annotations[common.RequesterAnnotation] == "" {
			return fmt.Errorf("the annotations are %v: %w", p.Annotations, err)
		}
		return nil
	})
	return env.Nodes(t, *machines, testenv.NodeSpec{Prefix: "machine", Labels: map[string]string{"node-role.kubernetes.io/" + machinePool: ""}, Mutate: addImages})
}

// newMachinePool returns a pool on whose nodes a change of /etc/motd needs no action. Changes of other files need a
// drain and a reboot.
func newMachinePool() *mcfgv1.MachineConfigPool {
	p := &mcfgv1.MachineConfigPool{}
	p.Name = machinePool
	p.Spec.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"node-role.kubernetes.io/" + machinePool: ""}}
	p.Spec.MachineConfigSelector = &metav1.LabelSelector{MatchLabels: map[string]string{mcfgv1.RoleLabel: machinePool}}
	tenth := intstr.FromString("10%")
	p.Spec.MaxUnavailable = &tenth
	none := mcfgv1.PolicyActions{{Type: mcfgv1.ActionNone}}
	p.Spec.NodeDisruptionPolicy = &mcfgv1.NodeDisruptionPolicy{Files: []mcfgv1.FilePolicy{{Path: "/etc/motd", Actions: none}}}
	return p
}

func createMachinePool(t *testing.T) {
	t.Helper()
	p := newMachinePool()
	if err := errors.Join(env.Client.Create(t.Context(), p), env.Client.Create(t.Context(), newMachineConfig("/etc/motd", "first"))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(env.Client.Delete(context.WithoutCancel(t.Context()), p)); err != nil {
			t.Error(err)
		}
	})
}

// newMachineConfig returns a MachineConfig with one file.
func newMachineConfig(path, content string) *mcfgv1.MachineConfig {
	mc := &mcfgv1.MachineConfig{}
	mc.Name, mc.Labels = "50-bench", map[string]string{mcfgv1.RoleLabel: machinePool}
	mc.Spec.Config.Raw = ignition(path, content)
	return mc
}

func ignition(path, content string) []byte {
	return fmt.Appendf(nil, `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":%q,"contents":{"source":"data:,%s"}}]}}`, path, content)
}

// declare gives a file of the MachineConfig another content.
func declare(t *testing.T, path string) {
	t.Helper()
	patch := mergePatch(`{"spec":{"config":%s}}`, ignition(path, fmt.Sprint(time.Now().UnixNano())))
	if err := env.Client.Patch(t.Context(), newMachineConfig(path, ""), patch); err != nil {
		t.Fatal(err)
	}
}

func configurationOfPool(t *testing.T) string {
	t.Helper()
	p := newMachinePool()
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatal(err)
	}
	return p.Spec.Configuration.Name
}

// followMachines plays the machine agents. They read from a cache, because they look at all nodes many times a second.
func followMachines(t *testing.T) {
	t.Helper()
	store, err := cache.New(env.Config, cache.Options{Scheme: env.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- store.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(env.Config, client.Options{Scheme: env.Client.Scheme(), Cache: &client.CacheOptions{Reader: store, DisableFor: []client.Object{&corev1.Secret{}}}})
	if err != nil {
		t.Fatal(err)
	}
	machineagents.Follow(t, c)
}

// makeVictims creates a pod on every node, which a drain evicts.
func makeVictims(t *testing.T, names []string) {
	t.Helper()
	concurrently(t, len(names), func(ctx context.Context, i int) error {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: names[i], Containers: []corev1.Container{{Name: "app", Image: "app"}}}}
		pod.Namespace, pod.Name = "default", "victim-"+names[i]
		return env.Client.Create(ctx, pod)
	})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// defaultNodeGrace is how long a node may miss heartbeats before it counts as lost. It is short enough for a test to
// wait for, and long enough that the heartbeats of a thousand simulated nodes do not use the whole CPU.
const defaultNodeGrace = 40 * time.Second

// VolumeProvisioner is the provisioner of StorageClasses for which kwok creates volumes.
const VolumeProvisioner = "testenv.opcrew.io/volumes"

// kwokConfig defines how kwok simulates nodes, pods and volumes.
//
//go:embed kwok.yaml
var kwokConfig []byte

// components starts the programs that need a running API server.
type components struct {
	bins  binaries
	sup   *supervisor
	creds *credentials
	host  string
	opts  Options

	simulation sync.Once
	simulated  error
}

// startControllers starts the real controller manager. Install the project's CRDs first: the controller manager looks
// for new kinds only every 30 seconds, and does not garbage-collect the dependents of a kind that it does not know yet.
func (c *components) startControllers() error {
	args := []string{
		"--use-service-account-credentials", // the audit log then names each controller
		"--service-account-private-key-file=" + c.creds.path("serviceaccounts.key"),
		"--root-ca-file=" + c.creds.path("serving.crt"),
		"--secure-port=0",
		"--node-monitor-period=1s",
		"--node-monitor-grace-period=" + c.opts.NodeGrace.String(),
		"--horizontal-pod-autoscaler-sync-period=1s",
		"--pvclaimbinder-sync-period=2s",
	}
	return c.startKube("kube-controller-manager", controllersUser, append(args, c.opts.ControllerFlags...)...)
}

// startKube starts a component of Kubernetes as the given user. It disables leader election and the default rate
// limits, which would slow down tests.
func (c *components) startKube(name, user string, args ...string) error {
	binary, err := c.bins.kube(name)
	if err != nil {
		return err
	}
	kubeconfig, err := c.creds.kubeconfig(c.host, user)
	if err != nil {
		return err
	}
	_, err = c.sup.start(name, binary, append([]string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
	}, args...)...)
	return err
}

// startKwok starts kwok with the project's configuration. kwok simulates every node that has the annotation FakeNode.
func (c *components) startKwok() error {
	binary, err := c.bins.kwok()
	if err != nil {
		return err
	}
	kubeconfig, err := c.creds.kubeconfig(c.host, KwokUser)
	if err != nil {
		return err
	}
	if err := c.creds.write("kwok.yaml", kwokConfig); err != nil {
		return fmt.Errorf("writing kwok's configuration: %w", err)
	}
	_, err = c.sup.start("kwok", binary,
		"--kubeconfig="+kubeconfig,
		"--config="+filepath.Join(c.creds.dir, "kwok.yaml"),
		fmt.Sprintf("--node-lease-duration-seconds=%d", int(c.opts.NodeGrace.Seconds())),
	)
	return err
}

// Simulate starts the scheduler and kwok, unless they already run. Simulated nodes and their pods then become Ready. A
// claim gets a volume if it has the default StorageClass or a class of VolumeProvisioner.
func (e *Env) Simulate(t testing.TB) {
	t.Helper()
	e.components.simulation.Do(func() { e.components.simulated = e.components.simulate(t.Context(), e.Client) })
	if e.components.simulated != nil {
		t.Fatalf("starting the simulation of nodes and pods: %v", e.components.simulated)
	}
}

// simulate starts the scheduler and kwok. It first waits for the namespace of node leases, which the server creates a
// moment after it is ready. Without this namespace, kwok would ignore its first nodes for several seconds.
func (c *components) simulate(ctx context.Context, writer client.Client) error {
	key := client.ObjectKey{Name: corev1.NamespaceNodeLease}
	if err := untilFound(ctx, writer, key, &corev1.Namespace{}); err != nil {
		return fmt.Errorf("waiting for namespace %s: %w", key.Name, err)
	}
	class := &storagev1.StorageClass{Provisioner: VolumeProvisioner}
	class.Name = "standard"
	class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	if err := writer.Create(ctx, class); err != nil {
		return fmt.Errorf("making the default storage class: %w", err)
	}
	if err := c.startKube("kube-scheduler", schedulerUser, "--secure-port=0"); err != nil {
		return err
	}
	return c.startKwok()
}

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

// defaultNodeGrace is how long a node may be silent before it counts as lost:
// short enough for a test to wait for it, long enough that a thousand simulated
// nodes, each renewing its lease four times in it, leave the processor to the tests.
const defaultNodeGrace = 40 * time.Second

// VolumeProvisioner is the provisioner of storage classes whose volumes kwok creates.
const VolumeProvisioner = "testenv.opcrew.io/volumes"

// kwokConfig describes to kwok how simulated nodes, pods and volumes behave.
//
//go:embed kwok.yaml
var kwokConfig []byte

// components starts the programs that work on the objects of a ready server.
type components struct {
	bins  binaries
	sup   *supervisor
	creds *credentials
	host  string
	opts  Options

	simulation sync.Once
	simulated  error
}

// startControllers runs the real controller manager. It must find the project's
// CRDs installed: it looks for new kinds only every 30 seconds, and until then
// nothing that such an object owns is collected.
func (c *components) startControllers() error {
	args := []string{
		"--use-service-account-credentials", // its controllers stand in the audit log by name
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

// startKube starts a component of Kubernetes as the given user, without leader election
// and without the default rate limits, which are for big clusters.
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

// startKwok runs kwok with our stages. It simulates every node with FakeNode's annotation.
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

// Simulate starts the scheduler and kwok, unless they run already: from then on
// nodes made by Nodes become Ready, and so do the pods that land on them. Claims of
// the default storage class, and of any other whose provisioner is
// VolumeProvisioner, get volumes.
func (e *Env) Simulate(t testing.TB) {
	t.Helper()
	e.components.simulation.Do(func() { e.components.simulated = e.components.simulate(t.Context(), e.Client) })
	if e.components.simulated != nil {
		t.Fatalf("starting the simulation of nodes and pods: %v", e.components.simulated)
	}
}

// simulate waits for the namespace of node leases, which the server makes a
// moment after it is ready: kwok would leave its first nodes alone for long seconds.
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

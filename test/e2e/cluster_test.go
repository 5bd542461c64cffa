// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	namespace = "opcrew-system"
	machines  = "opcrew-machines"
)

// machinesUser is the user name of the account whose requests the tests count.
var machinesUser = testenv.ServiceAccountUser(namespace, machines)

// cluster is the local cluster, with a client that has full access to it.
type cluster struct {
	client.Client
	root   string // root of the repository
	config *rest.Config
}

// restartTime is how long a node may take to report that it is Ready, after the test before started it again.
const restartTime = time.Minute

// works waits until all machines of the local cluster work, or fails at once if there is no cluster. Tests check this
// before their first request, because the address of a cluster that is down may belong to another machine.
func works(t *testing.T, root string) {
	t.Helper()
	eventually.True(t, restartTime, "all machines of the local cluster work", func() error {
		out, err := exec.Command(filepath.Join(root, "bin", "localcluster"), "status").CombinedOutput()
		if err != nil && !strings.Contains(string(out), "machines do not work") {
			t.Fatalf("there is no local cluster; run `make up` first: %v\n%s", err, out)
		}
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
}

// connect finds the local cluster. If no cluster runs, the test fails. It is not skipped, because a skipped test would
// look like a passed one.
func connect(t *testing.T) *cluster {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	works(t, root)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(root, "bin", "kubeconfig"))
	if err != nil {
		t.Fatalf("there is no local cluster; run `make up` first: %v", err)
	}
	config.QPS = -1
	ctrl.SetLogger(logr.Discard())
	if err := nodesv1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatalf("the local cluster does not respond; run `make up` first: %v", err)
	}
	return &cluster{Client: c, root: root, config: config}
}

// program returns a command that runs a program in bin with the local cluster's kubeconfig.
func (c *cluster) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.root, "bin", name), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(c.root, "bin", "kubeconfig"))
	cmd.Dir = c.root
	return cmd
}

// run runs a program in bin and returns its output. If the program fails, the test fails.
func (c *cluster) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := c.program(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return c.run(t, "kubectl", args...)
}

// audit opens the API server's audit log.
func (c *cluster) audit(t *testing.T) *testenv.Audit {
	t.Helper()
	found := regexp.MustCompile(`audit log:\s+(\S+)`).FindStringSubmatch(c.run(t, "localcluster", "status"))
	if found == nil {
		t.Fatal("localcluster status does not name the audit log")
	}
	log, err := testenv.OpenAudit(found[1], c.config)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// leader returns the leader pod of a layer, which is one Deployment of the operator, such as "data". During a failover,
// it waits until there is a leader.
func (c *cluster) leader(t *testing.T, layer string) string {
	t.Helper()
	pod := ""
	eventually.True(t, time.Minute, "a process is the leader of layer "+layer, func() error {
		lease := &coordinationv1.Lease{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "opcrew-" + layer}, lease); err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
			return errors.New("no process holds the lease")
		}
		pod, _, _ = strings.Cut(*lease.Spec.HolderIdentity, "_")
		return nil
	})
	return pod
}

// kill deletes a pod of the operator without giving it time to stop.
func (c *cluster) kill(t *testing.T, pod string) {
	t.Helper()
	doomed := &corev1.Pod{}
	doomed.Namespace, doomed.Name = namespace, pod
	if err := c.Delete(t.Context(), doomed, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
		t.Fatalf("kill %s: %v", pod, err)
	}
}

// waitOperator waits until both processes of a layer (one Deployment of the operator) run.
func (c *cluster) waitOperator(t *testing.T, layer string) {
	t.Helper()
	eventually.True(t, 2*time.Minute, "the operator of layer "+layer+" is available", func() error {
		d := &appsv1.Deployment{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "opcrew-" + layer}, d); err != nil {
			return err
		}
		if s := d.Status; s.AvailableReplicas != *d.Spec.Replicas || s.UpdatedReplicas != *d.Spec.Replicas || s.Replicas != *d.Spec.Replicas {
			return fmt.Errorf("%d of %d replicas are available", s.AvailableReplicas, *d.Spec.Replicas)
		}
		return nil
	})
}

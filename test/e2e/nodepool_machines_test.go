// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	// machineCRDs are simulated CRDs of Karpenter, because the local cluster has no cloud.
	machineCRDs = "internal/kinds/nodepool/integration/testdata/machine-crds.yaml"
	// readingTime is the time limit for the next reading of machines, which takes place every minute after a problem.
	readingTime = 3 * time.Minute
)

// wantMachines waits until the condition MachinesMatch of NodePool made has the given status and reason, and returns its
// message.
func (c *cluster) wantMachines(t *testing.T, want string) string {
	t.Helper()
	found := &metav1.Condition{}
	eventually.True(t, readingTime, "MachinesMatch is "+want, func() error {
		pool := &nodesv1.NodePool{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "made"}, pool); err != nil {
			return err
		}
		found = meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolMachinesMatch)
		if found == nil || string(found.Status)+" "+found.Reason != want {
			return fmt.Errorf("it is %+v", found)
		}
		return nil
	})
	return found.Message
}

func (c *cluster) createText(t *testing.T, manifest string) {
	t.Helper()
	command := c.program("kubectl", "create", "-f", "-")
	command.Stdin = strings.NewReader(manifest)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("creating an object: %v\n%s", err, out)
	}
}

func (c *cluster) claim(t *testing.T, node, class string) {
	t.Helper()
	c.createText(t, fmt.Sprintf(`
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: %s}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: %s}, requirements: []}
`, node, class))
	c.kubectl(t, "patch", "nodeclaim", node, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(`{"status":{"nodeName":%q}}`, node))
}

// The message of a missing right contains the command that grants it. The test runs this command.
func TestMachinesAreComparedOnceAnAdministratorAllowsToReadThem(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	t.Cleanup(func() {
		c.kubectl(t, "delete", "nodepool", "made", "--ignore-not-found", "--timeout=60s")
		c.kubectl(t, "label", "nodes", "--all", nodesv1.RolePrefix+"made-")
		c.kubectl(t, "delete", "clusterrolebinding", "opcrew-karpenter", "--ignore-not-found")
		c.kubectl(t, "delete", "-f", machineCRDs, "--ignore-not-found", "--timeout=60s")
	})
	c.kubectl(t, "apply", "-f", machineCRDs)
	c.claim(t, "node1", "gold")
	c.claim(t, "node2", "silver")
	c.role(t, "node1", "made")
	c.role(t, "node2", "made")
	pool := &nodesv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "made"}}
	ref := &nodesv1.TemplateRef{APIVersion: "karpenter.k8s.aws/v1", Kind: "EC2NodeClass", Name: "gold"}
	pool.Spec.Machine = &nodesv1.Machine{TemplateRef: ref}
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	message := c.wantMachines(t, "Unknown TemplateUnreadable")
	c.wantPool(t, "made", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
	_, command, found := strings.Cut(message, "allow it with: kubectl ")
	if !found {
		t.Fatalf("expected the message to contain a command, got %q", message)
	}
	c.kubectl(t, strings.Fields(command)...)
	if got := c.wantMachines(t, "False TemplateMissing"); !strings.Contains(got, "EC2NodeClass gold does not exist") {
		t.Errorf("expected the NodeClass to be missing, got %q", got)
	}
	c.createText(t, "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: gold}\n")
	if got := c.wantMachines(t, "False TemplateMismatch"); !strings.Contains(got, "node node2 was not made from EC2NodeClass gold") {
		t.Errorf("expected node2 to be named, got %q", got)
	}
	c.kubectl(t, "label", "node", "node2", nodesv1.RolePrefix+"made-")
	c.wantMachines(t, "True AsWanted")
	c.wantPool(t, "made", metav1.ConditionTrue, nodesv1.ReasonAsWanted)
}

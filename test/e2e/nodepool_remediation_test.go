// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// fencing is how long a remediation with two attempts may take, also on a busy machine: a minute until it begins, and
// some seconds for each command.
const fencing = 6 * time.Minute

// controller is the power controller of all machines of the local cluster. Commands on nodes reach it by HTTP, as they
// reach a real one by IPMI.
type controller struct {
	address string
	mutex   sync.Mutex
	// cuts powers a machine off; nil for a controller that lies: it only says that it has done so.
	cuts func(node string)
	off  map[string]bool
}

// newController starts a power controller on this host.
func newController(t *testing.T, cuts func(node string)) *controller {
	t.Helper()
	link, err := net.InterfaceByName("opcrew0")
	if err != nil {
		t.Fatalf("the link to the local cluster: %v", err)
	}
	addresses, err := link.Addrs()
	if err != nil || len(addresses) == 0 {
		t.Fatalf("the address of this host in the local cluster: %v", err)
	}
	host, _, _ := strings.Cut(addresses[0].String(), "/")
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	c := &controller{address: listener.Addr().String(), cuts: cuts, off: map[string]bool{}}
	server := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return c
}

// ServeHTTP answers /off/<node> and /status/<node>.
func (c *controller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	command, node, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if command == "off" && c.cuts != nil {
		c.cuts(node)
		c.off[node] = true
	}
	answer := "on"
	if c.off[node] {
		answer = "off"
	}
	if command == "off" {
		answer = "done"
	}
	fmt.Fprintln(w, answer)
}

// command returns a shell command that sends a command about the node of a remediation to the controller.
func (c *controller) command(name string) string {
	host, port, _ := net.SplitHostPort(c.address)
	return fmt.Sprintf(`exec bash -c 'exec 3<>/dev/tcp/%s/%s && printf "GET /%s/$NODE_NAME HTTP/1.0\r\n\r\n" >&3 && tail -n 1 <&3'`, host, port, name)
}

// remedied connects to the cluster and creates a NodePool of all nodes, whose dead machines the controller fences.
func remedied(t *testing.T, bmc *controller) *chores {
	t.Helper()
	c := newChores(t)
	tidy := func() {
		c.kubectl(t, "delete", "nodepools", "--all", "--timeout=180s")
		c.kubectl(t, "label", "nodes", "--all", nodesv1.RolePrefix+"remedied-")
	}
	tidy()
	t.Cleanup(tidy)
	for _, node := range []string{"node1", "node2", "node3"} {
		c.role(t, node, "remedied")
	}
	c.apply(t, fmt.Sprintf(`
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: remedied}
spec:
  remediation:
    after: 1m
    minHealthy: 1
    maxAttempts: 2
    pauseSeconds: 10
    fence: {command: %q}
    powerStatus: {command: %q}
`, bmc.command("off"), bmc.command("status")))
	c.wantRemediation(t, "True NoDeadNodes")
	return c
}

func (c *chores) wantRemediation(t *testing.T, statusReason string, words ...string) *nodesv1.NodePool {
	t.Helper()
	pool := &nodesv1.NodePool{}
	eventually.True(t, fencing, fmt.Sprintf("condition Remediation is %s %q", statusReason, words), func() error {
		if err := c.Get(t.Context(), client.ObjectKey{Name: "remedied"}, pool); err != nil {
			return err
		}
		found := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolRemediation)
		if found == nil || string(found.Status)+" "+found.Reason != statusReason {
			return fmt.Errorf("it is %+v", found)
		}
		for _, word := range words {
			if !strings.Contains(found.Message, word) {
				return errors.New(found.Message)
			}
		}
		return nil
	})
	return pool
}

// database creates a StatefulSet with a volume that every node can mount, and waits until its pod runs on node3.
func (c *chores) database(t *testing.T) types.UID {
	t.Helper()
	for _, node := range []string{"node1", "node2"} {
		c.kubectl(t, "cordon", node)
	}
	uncordon := func() {
		for _, node := range []string{"node1", "node2"} {
			c.kubectl(t, "uncordon", node)
		}
	}
	t.Cleanup(uncordon)
	c.apply(t, strings.ReplaceAll(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: NS}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Mi}
  storageClassName: NS
  hostPath: {path: /var/tmp/NS, type: DirectoryOrCreate}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NS}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: db
        image: busybox:1.35
        command: [sh, -c, "date > /data/started; exec sleep 1000000"]
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      storageClassName: NS
      resources: {requests: {storage: 1Mi}}
`, "NS", c.ns))
	t.Cleanup(func() { c.kubectl(t, "delete", "persistentvolume", c.ns, "--wait=false") })
	uid := c.wantDatabase(t, "", "node3")
	uncordon()
	return uid
}

// wantDatabase waits until a pod of the StatefulSet other than the given one is Ready on one of the nodes.
func (c *chores) wantDatabase(t *testing.T, not types.UID, nodes ...string) types.UID {
	t.Helper()
	pod := &corev1.Pod{}
	eventually.True(t, fencing, fmt.Sprintf("the pod of the StatefulSet is Ready on one of %q", nodes), func() error {
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: "db-0"}, pod); err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == "True" && pod.UID != not && strings.Contains(strings.Join(nodes, " "), pod.Spec.NodeName) {
				return nil
			}
		}
		return fmt.Errorf("pod %s is %s on %s", pod.UID, pod.Status.Phase, pod.Spec.NodeName)
	})
	return pod.UID
}

// taintsOfFencing returns the taints that a remediation sets on a node.
func (c *chores) taintsOfFencing(t *testing.T, node string) []string {
	t.Helper()
	n := &corev1.Node{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: node}, n); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, taint := range n.Spec.Taints {
		if taint.Key == nodesv1.FencedTaint || taint.Key == corev1.TaintNodeOutOfService {
			out = append(out, taint.ToString())
		}
	}
	return out
}

func (c *chores) remedies(t *testing.T) int {
	t.Helper()
	list := &egov1.ActivityList{}
	if err := c.List(t.Context(), list, client.InNamespace("opcrew-activities"), client.HasLabels{"opcrew.io/remediation"}); err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func TestTheMachineOfACrashedNodeIsFencedAndItsPodsRunElsewhere(t *testing.T) {
	var c *chores
	c = remedied(t, newController(t, func(node string) { _ = c.program("localcluster", "node", "crash", node).Run() }))
	old := c.database(t)
	begin := time.Now()
	c.crash(t, "node3")
	pool := c.wantRemediation(t, "True Remediating", "Fenced: node3")
	t.Logf("fenced with evidence after %s:\n%s", time.Since(begin).Round(time.Second), strings.Join(pool.Status.Remediation[0].Evidence, "\n"))
	c.wantDatabase(t, old, "node1", "node2")
	t.Logf("the pod runs elsewhere %s after the crash", time.Since(begin).Round(time.Second))
	if taints := c.taintsOfFencing(t, "node3"); len(taints) != 2 {
		t.Errorf("expected both taints on node3, got %q", taints)
	}
	t.Log("\n" + c.kubectl(t, "get", "nodepool", "remedied", "-o", "wide"))
	t.Log("\n" + c.kubectl(t, "get", "activities", "-n", "opcrew-activities", "-l", "opcrew.io/nodepool=remedied"))
	c.start(t, "node3")
	eventually.True(t, fencing, "the taints go when the machine returns", func() error {
		if taints := c.taintsOfFencing(t, "node3"); len(taints) > 0 {
			return fmt.Errorf("it has %q", taints)
		}
		return nil
	})
	c.wantRemediation(t, "True NoDeadNodes")
}

// The node runs behind a partition. The fence command ends with exit code 0 and does nothing.
func TestAFenceCommandThatLiesMovesNoPod(t *testing.T) {
	c := remedied(t, newController(t, nil))
	old := c.database(t)
	c.cluster.run(t, "localcluster", "node", "cut", "node3")
	t.Cleanup(func() { c.cluster.run(t, "localcluster", "node", "heal", "node3") })
	c.wantRemediation(t, "False RemediationFailed", "node3", "after attempt 2 of 2", `printed "on"`)
	if taints := c.taintsOfFencing(t, "node3"); len(taints) > 0 {
		t.Errorf("expected no taint on node3, got %q", taints)
	}
	pod := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: "db-0"}, pod); err != nil || pod.UID != old {
		t.Errorf("expected the pod on node3 to stay, got %s (%v)", pod.UID, err)
	}
	c.cluster.run(t, "localcluster", "node", "heal", "node3")
	c.wantRemediation(t, "True NoDeadNodes")
}

// Most nodes are cut off from the control plane. Commands could fence all of them.
func TestAPartitionOfMostNodesFencesNoMachine(t *testing.T) {
	c := remedied(t, newController(t, func(node string) { t.Errorf("expected no fence command, got one for %s", node) }))
	before := c.remedies(t)
	heal := func() {
		for _, node := range []string{"node2", "node3"} {
			c.cluster.run(t, "localcluster", "node", "heal", node)
		}
	}
	for _, node := range []string{"node2", "node3"} {
		c.cluster.run(t, "localcluster", "node", "cut", node)
	}
	t.Cleanup(heal)
	time.Sleep(3 * time.Minute) // more than spec.remediation.after and the time after which a node counts as lost
	t.Log(c.kubectl(t, "get", "nodepool", "remedied", "-o", "jsonpath={.status.conditions[?(@.type==\"Remediation\")].message}"))
	for _, node := range []string{"node2", "node3"} {
		if taints := c.taintsOfFencing(t, node); len(taints) > 0 {
			t.Errorf("expected no taint on %s, got %q", node, taints)
		}
	}
	if n := c.remedies(t); n != before {
		t.Errorf("expected no command, got %d", n-before)
	}
	heal()
	c.wantRemediation(t, "True NoDeadNodes")
}

// A user learns before a machine is dead that no machine could be fenced.
func TestARemediationThatCannotWorkIsReportedInAdvance(t *testing.T) {
	c := remedied(t, newController(t, func(node string) { t.Errorf("expected no fence command, got one for %s", node) }))
	c.wantRemediation(t, "True NoDeadNodes")
	change := func(patch string) { c.kubectl(t, "patch", "nodepool", "remedied", "--type", "merge", "-p", patch) }
	change(`{"spec":{"remediation":{"minHealthy":3}}}`)
	c.wantRemediation(t, "False NotEffective", "minHealthy (3) requires 3 Ready nodes")
	change(`{"spec":{"remediation":{"minHealthy":1,"fence":{"secretEnvs":[{"name":"PASSWORD","secret":"bmc-e2e","key":"password"}]}}}}`)
	c.wantRemediation(t, "False NotEffective", "Secret bmc-e2e in namespace opcrew-activities does not exist")
	c.kubectl(t, "create", "secret", "generic", "bmc-e2e", "-n", "opcrew-activities", "--from-literal=password=a")
	t.Cleanup(func() { c.kubectl(t, "delete", "secret", "bmc-e2e", "-n", "opcrew-activities") })
	c.wantRemediation(t, "True NoDeadNodes")
}

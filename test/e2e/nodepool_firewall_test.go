// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// firewallTime is the time limit for rules, including the start of the agents.
const firewallTime = 2 * time.Minute

// walls are pods in the networks of the nodes. Each serves port 8080.
type walls struct {
	*neighbors
	v4, v6 map[string]string // by the name of the node
}

const wallManifest = `
apiVersion: v1
kind: Pod
metadata: {name: net-%[1]s, namespace: %[2]s, labels: {app: net}}
spec:
  nodeName: %[1]s
  hostNetwork: true
  terminationGracePeriodSeconds: 0
  tolerations: [{operator: Exists}]
  containers:
  - name: shell
    image: busybox:1.35
    command: [httpd, -f, -p, "8080", -h, /tmp]
`

func newWalls(t *testing.T, c *cluster) *walls {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "wall-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "privileged"}}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	w := &walls{&neighbors{c, ns.Name}, map[string]string{}, map[string]string{}}
	for _, name := range []string{"node1", "node2", "node3"} {
		node := &corev1.Node{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
			t.Fatal(err)
		}
		for _, a := range node.Status.Addresses {
			switch {
			case a.Type != corev1.NodeInternalIP:
			case strings.Contains(a.Address, ":"):
				w.v6[name] = a.Address
			default:
				w.v4[name] = a.Address
			}
		}
		if w.v4[name] == "" || w.v6[name] == "" {
			t.Fatalf("expected %s to have addresses of both families, got %v", name, node.Status.Addresses)
		}
		w.apply(t, fmt.Sprintf(wallManifest, name, ns.Name))
	}
	t.Cleanup(func() {
		c.kubectl(t, "delete", "nodepool", "wall", "edge", "--ignore-not-found", "--timeout=120s")
		c.kubectl(t, "label", "nodes", "--all", "node-role.kubernetes.io/wall-", "node-role.kubernetes.io/edge-")
		c.kubectl(t, "delete", "namespace", ns.Name, "--timeout=60s")
	})
	c.kubectl(t, "wait", "-n", ns.Name, "--for=condition=Ready", "pods", "-l", "app=net", "--timeout=120s")
	return w
}

func (w *walls) apply(t *testing.T, text string) {
	t.Helper()
	command := w.program("kubectl", "apply", "-f", "-")
	command.Stdin = strings.NewReader(text)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
}

// expect waits until a node can open connections to a port of another node, over both families, or cannot.
func (w *walls) expect(t *testing.T, from, to string, port int, want bool) {
	t.Helper()
	eventually.True(t, firewallTime, fmt.Sprintf("%s can connect to port %d of %s: %v", from, port, to, want), func() error {
		for _, address := range []string{w.v4[to], w.v6[to]} {
			if strings.Contains(address, ":") && port >= 30000 {
				continue // the local cluster has no IPv6 Services
			}
			got, err := w.connects("net-"+from, address, port)
			if err == nil && got != want {
				err = fmt.Errorf("a connection to %s is possible: %v", address, got)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// active waits until the operator reports that the rules of a pool are active on a number of nodes.
func (w *walls) active(t *testing.T, nodes int32) {
	t.Helper()
	start := time.Now()
	eventually.True(t, firewallTime, fmt.Sprintf("the rules are active on %d nodes", nodes), func() error {
		pool := &nodesv1.NodePool{}
		if err := w.Get(t.Context(), client.ObjectKey{Name: "wall"}, pool); err != nil {
			return err
		}
		found := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolFirewallActive)
		if found == nil || found.Status != metav1.ConditionTrue || found.ObservedGeneration != pool.Generation || pool.Status.Firewall.ActiveNodes != nodes {
			return fmt.Errorf("the condition is %+v", found)
		}
		return nil
	})
	t.Logf("active on %d nodes after %s", nodes, time.Since(start).Round(100*time.Millisecond))
}

// wallPool opens ports of its nodes to pool edge.
const wallPool = `
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: edge}
---
apiVersion: nodes.lailin.xyz/v1
kind: NodePool
metadata: {name: wall}
spec:
  firewall:
    rules:
    - name: web
      from: [{nodePool: edge}]
      ports: [{port: 8080}, {port: 30980}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: %[1]s}
spec:
  type: NodePort
  selector: {app: server}
  ports: [{port: 80, targetPort: 8080, nodePort: 30980}]
---
apiVersion: v1
kind: Pod
metadata: {name: server, namespace: %[1]s, labels: {app: server}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: web, image: "busybox:1.35", command: [httpd, -f, -p, "8080", -h, /tmp]}]
`

func TestAPoolOpensItsPortsToDeclaredSourcesOnly(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	before := c.carriedByAll(t)
	w := newWalls(t, c)
	c.role(t, "node1", "edge")
	w.expect(t, "node3", "node2", 8080, true)
	w.apply(t, fmt.Sprintf(wallPool, w.ns))
	w.active(t, 0)
	w.expect(t, "node3", "node2", 30980, true)

	c.role(t, "node2", "wall") // the join closes node2
	w.active(t, 1)
	for _, port := range []int{8080, 30980} {
		w.expect(t, "node1", "node2", port, true)
		w.expect(t, "node3", "node2", port, false)
		w.expect(t, "node2", "node3", port, true)
	}
	w.expect(t, "node3", "node2", 10250, true) // always open

	c.role(t, "node3", "edge") // a join of the source opens node2 for it
	w.active(t, 1)
	w.expect(t, "node3", "node2", 8080, true)
	c.kubectl(t, "label", "node", "node3", "node-role.kubernetes.io/edge-")
	w.active(t, 1)
	w.expect(t, "node3", "node2", 8080, false)
	c.wantQuiet(t, 5*time.Second)

	c.kubectl(t, "label", "node", "node2", "node-role.kubernetes.io/wall-") // the leave opens node2
	w.active(t, 0)
	w.expect(t, "node3", "node2", 8080, true)
	c.kubectl(t, "delete", "nodepool", "wall", "edge", "--timeout=120s")
	eventually.True(t, firewallTime, "nothing of the firewall is left", func() error {
		for name, object := range map[string]client.Object{nodefirewall.Name: &appsv1.DaemonSet{}, nodefirewall.NodesMap: &corev1.ConfigMap{}} {
			err := c.Get(t.Context(), client.ObjectKey{Namespace: nodefirewall.Namespace, Name: name}, object)
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("%T %s: %w", object, name, errors.Join(err, errors.New("it exists")))
			}
		}
		return nil
	})
	c.kubectl(t, "label", "node", "node1", "node-role.kubernetes.io/edge-")
	c.wantAsBefore(t, before)
}

// A node that crashes returns with the rules that were confirmed, and a deleted pool does not wait for a dead node.
func TestAFirewallSurvivesTheCrashOfItsNode(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	w := newWalls(t, c)
	c.role(t, "node1", "edge")
	c.role(t, "node2", "wall")
	w.apply(t, fmt.Sprintf(wallPool, w.ns))
	w.active(t, 1)
	w.expect(t, "node3", "node2", 8080, false)
	c.run(t, "localcluster", "node", "crash", "node2")
	c.run(t, "localcluster", "node", "start", "node2")
	c.kubectl(t, "wait", "--for=condition=Ready", "node/node2", "--timeout=180s")
	c.kubectl(t, "wait", "-n", w.ns, "--for=condition=Ready", "pod/net-node2", "--timeout=180s")
	w.active(t, 1)
	w.expect(t, "node3", "node2", 8080, false)
	w.expect(t, "node1", "node2", 8080, true)
}

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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// neighbors are two pods in the namespace of a store such as Redis. spec.access allows connections from the pod "web",
// but not from the pod "other".
type neighbors struct {
	*cluster
	ns string
}

// listed is the part of a spec that allows connections from pods with label app=web, and from this machine, from which
// the tests query the servers.
const listed = `{"access":[{"podSelector":{"matchLabels":{"app":"web"}}},{"ipBlock":{"cidr":"10.214.255.0/30"}}]}`

func newNeighbors(t *testing.T, c *cluster, ns string) *neighbors {
	t.Helper()
	n := &neighbors{c, ns}
	for _, name := range []string{"web", "other"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": name}}, Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(0)),
			Containers:                    []corev1.Container{{Name: "shell", Image: "busybox:1.35", Command: []string{"sleep", "86400"}}},
		}}
		if err := c.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	c.kubectl(t, "wait", "-n", ns, "--for=condition=Ready", "pod/web", "pod/other", "--timeout=120s")
	return n
}

// connects reports whether a pod can open a TCP connection. Network policies drop forbidden packets, so a forbidden
// connection times out. Any other failure is an error: for example, a refused connection only shows that no server
// listens.
func (n *neighbors) connects(from, address string, port int) (bool, error) {
	out, err := n.program("kubectl", "exec", "-n", n.ns, from, "--", "nc", "-w", "2", address, fmt.Sprint(port), "-e", "true").CombinedOutput()
	switch {
	case err == nil:
		return true, nil
	case strings.Contains(string(out), "timed out"):
		return false, nil
	case strings.Contains(string(out), "unreachable"), strings.Contains(string(out), "No route"), strings.Contains(string(out), "Permission denied"):
		return false, nil // a firewall answers so, if it rejects instead of dropping
	}
	return false, fmt.Errorf("nc from %s to %s:%d: %w: %s", from, address, port, err, out)
}

// expect waits until the pod can connect to the open ports of another pod, and not to the closed ones.
func (n *neighbors) expect(t *testing.T, from string, to *corev1.Pod, open []int, closed ...int) {
	t.Helper()
	eventually.True(t, time.Minute, fmt.Sprintf("pod %s can connect to %s at the ports %v, but not %v", from, to.Name, open, closed), func() error {
		for ports, want := range map[*[]int]bool{&open: true, &closed: false} {
			for _, port := range *ports {
				got, err := n.connects(from, to.Status.PodIP, port)
				if err != nil {
					return err
				}
				if got != want {
					return fmt.Errorf("port %d: a connection is possible: %t", port, got)
				}
			}
		}
		return nil
	})
}

func (n *neighbors) pod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := n.Get(t.Context(), client.ObjectKey{Namespace: n.ns, Name: name}, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestSmokeTheBusOfRedisIsClosedAndAccessLimitsItsClients(t *testing.T) {
	r := newRedisTest(t, "")
	n := newNeighbors(t, r.cluster, r.ns)
	server := n.pod(t, redisName+"-0")
	inner := []int{redisv1alpha1.HomePort + redisv1alpha1.BusOffset, redisv1alpha1.GuestPort + redisv1alpha1.BusOffset, 8080}
	clients := []int{redisv1alpha1.HomePort, redisv1alpha1.GuestPort, redisv1alpha1.UIPort}
	open := append([]int{redisv1alpha1.MetricsPort}, clients...)
	n.expect(t, "web", server, open, inner...)
	n.expect(t, "other", server, open, inner...)

	r.patch(t, listed)
	n.expect(t, "web", server, open, inner...)
	n.expect(t, "other", server, []int{redisv1alpha1.MetricsPort}, append(inner, clients...)...)
	// A new pod must be able to join the Redis cluster under the network policies, and the operator must be able to
	// reach it.
	if err := r.Delete(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, 3*time.Minute, "the pod is recreated", func() error {
		now := &corev1.Pod{}
		if err := r.Get(t.Context(), client.ObjectKeyFromObject(server), now); err != nil {
			return err
		}
		if now.UID == server.UID || now.Status.PodIP == "" {
			return errors.New("the pod has not been recreated yet")
		}
		server = now
		return nil
	})
	r.await(t, 3)
	n.expect(t, "web", server, open, inner...)
	n.expect(t, "other", server, []int{redisv1alpha1.MetricsPort}, append(inner, clients...)...)
}

func TestSmokeThePeerPortOfEtcdIsClosedAndAccessLimitsItsClients(t *testing.T) {
	const clients, peers, gate = 2379, 2380, 2382
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36))
	n := newNeighbors(t, e.cluster, e.ns)
	member := &e.pods(t)[0]
	n.expect(t, "other", member, []int{clients}, peers, gate)

	e.edit(t, listed)
	n.expect(t, "web", member, []int{clients}, peers, gate)
	n.expect(t, "other", member, nil, clients, peers, gate)
	e.deletePod(t, *member)
	e.await(t, 3, etcd.V36)
	e.scale(t, 1)
	e.await(t, 1, etcd.V36)
	n.expect(t, "other", &e.pods(t)[0], nil, clients, peers, gate)
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	articleCache   = "example-memcached"
	memcachedImage = cachev1alpha1.DefaultImage
	// keys is the number of keys. It is large enough to measure each server's share of the keys to within one percent.
	keys = 4000
)

// cacheTest is a namespace with the Memcached of the tutorial article that the Memcached API comes from.
type cacheTest struct {
	*cluster
	ns string
}

func newCacheTest(t *testing.T) *cacheTest {
	t.Helper()
	if err := cachev1alpha1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	c := connect(t)
	c.wantImage(t, memcachedImage)
	c.removePools(t) // otherwise, taints of NodePools from earlier tests would leave one node for all servers
	ns := &corev1.Namespace{}
	ns.GenerateName = "memcached-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	return &cacheTest{c, ns.Name}
}

// holds reports whether all nodes have the image.
func (c *cluster) holds(t *testing.T, image string) bool {
	t.Helper()
	return slices.ContainsFunc(strings.Split(c.run(t, "localcluster", "image", "list"), "\n"), func(line string) bool {
		fields := strings.Fields(line)
		return len(fields) == 2 && fields[0] == image && strings.Count(fields[1], ",") == 2
	})
}

// wantImage loads an image from the local cluster's image catalogue into all nodes. Otherwise the first pod would wait
// until the image is built.
func (c *cluster) wantImage(t *testing.T, image string) {
	t.Helper()
	if c.holds(t, image) {
		return
	}
	made := strings.Fields(c.run(t, "localcluster", "image", "make", image))
	c.run(t, "localcluster", "image", "load", made[len(made)-1])
	if !c.holds(t, image) {
		t.Fatalf("expected the catalogue to have %s, it has %s", image, made[0])
	}
}

// apply applies the unchanged manifest of the tutorial article that the Memcached API comes from.
func (c *cacheTest) apply(t *testing.T, flags ...string) {
	t.Helper()
	file := filepath.Join(c.root, "test", "crds", "testdata", "memcacheds", "accept", "article.yaml")
	c.kubectl(t, append([]string{"apply", "-n", c.ns, "-f", file}, flags...)...)
}

func (c *cacheTest) scale(t *testing.T, size int) {
	t.Helper()
	c.kubectl(t, "scale", "-n", c.ns, "memcached/"+articleCache, fmt.Sprint("--replicas=", size))
}

func (c *cacheTest) get(t *testing.T) *cachev1alpha1.Memcached {
	t.Helper()
	m := &cachev1alpha1.Memcached{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: articleCache}, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// await waits until Ready has the given status and a message with the given words, and the given number of servers is
// ready.
func (c *cacheTest) await(t *testing.T, status metav1.ConditionStatus, size int, words string) *cachev1alpha1.Memcached {
	t.Helper()
	var m *cachev1alpha1.Memcached
	eventually.True(t, 3*time.Minute, fmt.Sprintf("Ready is %s with %d servers and the words %q", status, size, words), func() error {
		m = c.get(t)
		ready := meta.FindStatusCondition(m.Status.Conditions, cachev1alpha1.MemcachedReady)
		if ready == nil || ready.Status != status || len(m.Status.Servers) != size || m.Status.ObservedGeneration != m.Generation || !strings.Contains(ready.Message, words) {
			return fmt.Errorf("the Memcached has %d servers, and Ready is %+v", len(m.Status.Servers), ready)
		}
		return nil
	})
	return m
}

// ring is a client that distributes keys over the servers by consistent hashing of the servers' names (ketama).
type ring struct {
	points []uint32
	owner  map[uint32]string
	addr   map[string]string // current address of each server, by the server's name
}

// ring returns a client that uses the server list which applications mount, and the current addresses of the servers.
func (c *cacheTest) ring(t *testing.T) *ring {
	t.Helper()
	list := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: articleCache + "-servers"}, list); err != nil {
		t.Fatal(err)
	}
	servers := strings.Fields(list.Data["servers"])
	if status := c.get(t).Status; !slices.Equal(servers, status.Servers) {
		t.Fatalf("the ConfigMap lists the servers %q, but status.servers lists %q", servers, status.Servers)
	}
	r := newRing(servers)
	for _, server := range servers {
		host, port, _ := strings.Cut(server, ":")
		name, _, _ := strings.Cut(host, ".")
		pod := &corev1.Pod{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: name}, pod); err != nil {
			t.Fatal(err)
		}
		r.addr[server] = net.JoinHostPort(pod.Status.PodIP, port)
	}
	return r
}

// newRing gives each server 400 points on the hash ring. With so many points, each server's share of the keys is
// accurate to a few percent for any names of the servers. The names differ in each test, because they contain the
// test's namespace.
func newRing(servers []string) *ring {
	r := &ring{owner: map[uint32]string{}, addr: map[string]string{}}
	for _, server := range servers {
		for i := range 100 {
			sum := md5.Sum(fmt.Appendf(nil, "%s-%d", server, i))
			for point := range 4 {
				r.owner[binary.LittleEndian.Uint32(sum[4*point:])] = server
			}
		}
	}
	r.points = slices.Sorted(maps.Keys(r.owner))
	return r
}

// server returns the name of the server that stores the key.
func (r *ring) server(key string) string {
	sum := md5.Sum([]byte(key))
	i, _ := slices.BinarySearch(r.points, binary.LittleEndian.Uint32(sum[:]))
	return r.owner[r.points[i%len(r.points)]]
}

func keyNames() []string {
	var out []string
	for i := range keys {
		out = append(out, fmt.Sprint("user:", i))
	}
	return out
}

// byServer returns the test's keys, grouped by the server that stores them.
func (r *ring) byServer() map[string][]string {
	out := map[string][]string{}
	for _, key := range keyNames() {
		out[r.server(key)] = append(out[r.server(key)], key)
	}
	return out
}

// talk sends one command per key to a server in memcached's text protocol, and reads one response per key.
func talk(t *testing.T, addr string, keys []string, say func(key string) string, hear func(key string, in *bufio.Reader) error) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		t.Fatalf("memcached at %s: %v", addr, err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for _, key := range keys {
		_, err := fmt.Fprint(conn, say(key))
		if err == nil {
			err = hear(key, in)
		}
		if err != nil {
			t.Fatalf("memcached at %s: %v", addr, err)
		}
	}
}

// fill writes every key to the server that stores it.
func (r *ring) fill(t *testing.T) {
	t.Helper()
	for server, keys := range r.byServer() {
		talk(t, r.addr[server], keys,
			func(key string) string { return fmt.Sprintf("set %s 0 0 %d\r\n%s\r\n", key, len(key), key) },
			func(_ string, in *bufio.Reader) error {
				if line, err := in.ReadString('\n'); err != nil || line != "STORED\r\n" {
					return fmt.Errorf("the server responds %q (%w)", line, err)
				}
				return nil
			})
	}
}

// misses returns how many keys are missing on each server. It does not query the servers that down lists.
func (r *ring) misses(t *testing.T, down ...string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for server, keys := range r.byServer() {
		if slices.Contains(down, server) {
			continue
		}
		talk(t, r.addr[server], keys,
			func(key string) string { return "get " + key + "\r\n" },
			func(key string, in *bufio.Reader) error {
				line, err := in.ReadString('\n')
				if err != nil || line == "END\r\n" {
					out[server]++
					return err
				}
				value, err1 := in.ReadString('\n')
				end, err2 := in.ReadString('\n')
				if value != key+"\r\n" || end != "END\r\n" {
					return fmt.Errorf("key %s is %q: %w", key, value, errors.Join(err1, err2))
				}
				return nil
			})
	}
	return out
}

// wantMisses checks that all keys of the given servers are missing, and no other keys.
func (r *ring) wantMisses(t *testing.T, when string, servers ...string) {
	t.Helper()
	want := map[string]int{}
	for _, server := range servers {
		want[server] = len(r.byServer()[server])
	}
	got := r.misses(t)
	if !maps.Equal(got, want) {
		t.Errorf("%s: expected the keys of %q to be lost and no other, %v; got %v", when, servers, want, got)
	}
	t.Logf("%s: misses by server of %d keys: %v", when, keys, got)
}

// restart deletes a server's pod and waits until its replacement is ready.
func (c *cacheTest) restart(t *testing.T, name string) {
	t.Helper()
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: c.ns, Name: name}
	if err := c.Get(t.Context(), key, pod); err != nil {
		t.Fatal(err)
	}
	old := pod.UID
	if err := c.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, time.Minute, "pod "+name+" is another one, and ready", func() error {
		fresh := &corev1.Pod{}
		if err := c.Get(t.Context(), key, fresh); err != nil {
			return err
		}
		for _, condition := range fresh.Status.Conditions {
			if fresh.UID != old && condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("the pod has UID %s and phase %s", fresh.UID, fresh.Status.Phase)
	})
}

func TestSmokeMemcachedKeepsTheHitRateOfAConsistentClient(t *testing.T) {
	c := newCacheTest(t)
	c.apply(t)
	c.await(t, metav1.ConditionTrue, 3, "3 of 3 servers answer")
	before := c.ring(t)
	before.fill(t)
	before.wantMisses(t, "filled")

	c.restart(t, articleCache+"-1")
	list := c.await(t, metav1.ConditionTrue, 3, "").Status.Servers
	after := c.ring(t)
	if !slices.Equal(before.points, after.points) {
		t.Errorf("a restart changed which server stores which keys")
	}
	after.wantMisses(t, "pod 1 restarted", list[1])
	after.fill(t)

	c.scale(t, 4)
	grown := c.await(t, metav1.ConditionTrue, 4, "4 of 4 servers answer").Status.Servers
	if !slices.Equal(grown[:3], list) {
		t.Errorf("expected the fourth server at the end of the list, got %q", grown)
	}
	four := c.ring(t)
	four.wantMisses(t, "grown from 3 to 4", grown[3])
	if share := float64(four.misses(t)[grown[3]]) / keys; share > 0.25+0.05 || share < 0.15 {
		t.Errorf("expected a quarter of the keys to move and 5%% more at most, got %.1f%%", 100*share)
	}

	c.scale(t, 0)
	c.await(t, metav1.ConditionTrue, 0, "spec.size is 0")
	c.scale(t, 3)
	c.await(t, metav1.ConditionTrue, 3, "3 of 3 servers answer")
	back := c.ring(t)
	if !slices.Equal(before.points, back.points) {
		t.Errorf("the servers of keys changed after the size was 0")
	}
	back.wantMisses(t, "after size 0", list...)
	c.remove(t)

	c.apply(t, "--server-side")
	c.await(t, metav1.ConditionTrue, 3, "3 of 3 servers answer")
	c.ring(t).fill(t)
	c.remove(t)
}

// remove deletes the Memcached and waits until its pods are gone.
func (c *cacheTest) remove(t *testing.T) {
	t.Helper()
	c.kubectl(t, "delete", "-n", c.ns, "memcached/"+articleCache, "--timeout=60s")
	eventually.True(t, time.Minute, "all objects that belonged to the object are gone", func() error {
		pods := &corev1.PodList{}
		if err := c.List(t.Context(), pods, client.InNamespace(c.ns)); err != nil || len(pods.Items) > 0 {
			return fmt.Errorf("%d pods still exist (%w)", len(pods.Items), err)
		}
		err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: articleCache + "-servers"}, &corev1.ConfigMap{})
		return eventually.Gone(err, apierrors.IsNotFound)
	})
}

func TestANodeThatCrashesTakesOnlyTheKeysOfItsServersAndTheyComeBack(t *testing.T) {
	c := newCacheTest(t)
	c.apply(t)
	list := c.await(t, metav1.ConditionTrue, 3, "3 of 3 servers answer").Status.Servers
	before := c.ring(t)
	before.fill(t)
	first := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: articleCache + "-0"}, first); err != nil {
		t.Fatal(err)
	}
	lost := c.serversOn(t, first.Spec.NodeName, list)

	c.crash(t, first.Spec.NodeName)
	c.await(t, metav1.ConditionFalse, 3, "node "+first.Spec.NodeName+" does not answer")
	eventually.True(t, time.Minute, fmt.Sprintf("the server list is unchanged, with %d servers ready", len(list)-len(lost)), func() error {
		if s := c.get(t).Status; !slices.Equal(s.Servers, list) || int(s.ReadyReplicas) != len(list)-len(lost) {
			return fmt.Errorf("the status is %+v", s)
		}
		return nil
	})
	if misses := before.misses(t, lost...); len(misses) > 0 {
		t.Errorf("expected no miss on the servers that are up, got %v", misses)
	}

	c.start(t, first.Spec.NodeName)
	c.await(t, metav1.ConditionTrue, 3, "3 of 3 servers answer")
	after := c.ring(t)
	if !slices.Equal(before.points, after.points) {
		t.Errorf("the crash changed which server stores which keys")
	}
	after.wantMisses(t, "node "+first.Spec.NodeName+" crashed", lost...)
	c.remove(t)
}

// serversOn returns those servers whose pods run on the node.
func (c *cacheTest) serversOn(t *testing.T, node string, servers []string) []string {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(servers), func(server string) bool {
		name, _, _ := strings.Cut(server, ".")
		pod := &corev1.Pod{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.ns, Name: name}, pod); err != nil {
			t.Fatal(err)
		}
		return pod.Spec.NodeName != node
	})
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
	"github.com/opcrew/opcrew/test/testenv/redispods"
)

type option func(*redisv1alpha1.RedisEnterpriseCluster)

func sized(n int32) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.Nodes = &n }
}

// withClaims requests volumes for the pods. The test environment has no StorageClass, so the spec names none.
func withClaims(c *redisv1alpha1.RedisEnterpriseCluster) {
	c.Spec.PersistentSpec = &redisv1alpha1.PersistentSpec{Enabled: "true", VolumeSize: "1Gi"}
}

func configured(name, value string) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.RedisConfig = map[string]redisv1alpha1.Setting{name: redisv1alpha1.Setting(value)}
	}
}

func imaged(tag string) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) {
		c.Spec.RedisEnterpriseImageSpec = &redisv1alpha1.ImageSpec{Repository: "opcrew/redis", VersionTag: tag}
	}
}

func rated(rate string) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.SlotMigrationRate = redisv1alpha1.Amount(rate) }
}

func hibernating(is bool) option {
	return func(c *redisv1alpha1.RedisEnterpriseCluster) { c.Spec.Hibernate = is }
}

// site is the namespace of a test, with its nodes and the operator. Its tenant, if it has one, creates and edits the
// cluster; otherwise an administrator does.
type site struct {
	*testing.T
	ns, name string
	operator *operator.Process
	tenant   *operator.Tenant
	kubelets *redispods.Kubelets
}

var sites int

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteOf(t, 5, env.Operator)
}

func newSiteOf(t *testing.T, nodes int, start func(*testing.T) *operator.Process) *site {
	t.Helper()
	sites++ // each test needs new node names, because kwok does not simulate pods on a node that was recreated
	env.Nodes(t, nodes, testenv.NodeSpec{Prefix: fmt.Sprint("site", sites)})
	s := &site{T: t, ns: env.Namespace(t), name: "rec"}
	s.kubelets = redispods.Follow(t, env.Config, env.Client, store)
	s.operator = start(t)
	env.Clear(t, &redisv1alpha1.RedisEnterpriseClusterList{}, s.ns)
	t.Cleanup(func() {
		if bad := store.Violations(s.cluster()); len(bad) > 0 {
			t.Errorf("expected nothing to be done that must never be, got %q", bad)
		}
	})
	return s
}

// in returns the same site for use in a subtest.
func (s *site) in(t *testing.T) *site {
	part := *s
	part.T = t
	return &part
}

func (s *site) create(options ...option) {
	s.Helper()
	if err := env.As(s.tenant).Create(s.Context(), s.object(options...)); err != nil {
		s.Fatal(err)
	}
}

func (s *site) object(options ...option) *redisv1alpha1.RedisEnterpriseCluster {
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	c.Namespace, c.Name = s.ns, s.name
	c.Spec.RedisEnterpriseNodeResources = &redisv1alpha1.Resources{
		Limits:   map[corev1.ResourceName]redisv1alpha1.Amount{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "256Mi"},
		Requests: map[corev1.ResourceName]redisv1alpha1.Amount{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "256Mi"},
	}
	for _, option := range options {
		option(c)
	}
	return c
}

func (s *site) get() *redisv1alpha1.RedisEnterpriseCluster {
	s.Helper()
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	s.read(s.name, c)
	return c
}

func (s *site) read(name string, object client.Object) {
	s.Helper()
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: name}, object); err != nil {
		s.Fatalf("reading %T %s: %v", object, name, err)
	}
}

// edit changes the cluster's object as a user would.
func (s *site) edit(options ...option) {
	s.Helper()
	c := s.get()
	before := c.DeepCopy()
	for _, option := range options {
		option(c)
	}
	if err := env.As(s.tenant).Patch(s.Context(), c, client.MergeFrom(before), client.FieldOwner("kubectl-edit")); err != nil {
		s.Fatal(err)
	}
}

// patch changes any object as another manager would.
func (s *site) patch(object client.Object, merge string) {
	s.Helper()
	if err := env.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner("another")); err != nil {
		s.Fatal(err)
	}
}

func (s *site) delete(objects ...client.Object) {
	s.Helper()
	for _, object := range objects {
		if err := env.Client.Delete(s.Context(), object); err != nil {
			s.Fatal(err)
		}
	}
}

// await waits until Ready has the given status and reason for the current spec, and its message contains the given
// words.
func (s *site) await(statusReason string, words ...string) *redisv1alpha1.RedisEnterpriseCluster {
	s.Helper()
	return s.awaitCondition(redisv1alpha1.ConditionReady, statusReason, words...)
}

// leisurely is the time limit for steps in which opcrew waits up to 15 seconds for clients that still use an old slot
// map.
const leisurely = time.Minute

func (s *site) awaitCondition(kind, statusReason string, words ...string) *redisv1alpha1.RedisEnterpriseCluster {
	s.Helper()
	var c *redisv1alpha1.RedisEnterpriseCluster
	eventually.True(s.T, leisurely, fmt.Sprintf("%s is %s and says %q", kind, statusReason, words), func() error {
		c = s.get()
		found := meta.FindStatusCondition(c.Status.Conditions, kind)
		switch {
		case found == nil:
			return errors.New("there is no such condition")
		case c.Status.ObservedGeneration != c.Generation:
			return fmt.Errorf("the status is about generation %d, the spec is %d", c.Status.ObservedGeneration, c.Generation)
		case fmt.Sprintf("%s %s", found.Status, found.Reason) != statusReason:
			return fmt.Errorf("it is %s %s: %s", found.Status, found.Reason, found.Message)
		}
		for _, word := range words {
			if !strings.Contains(found.Message, word) {
				return fmt.Errorf("it says %q", found.Message)
			}
		}
		return nil
	})
	return c
}

// cluster returns the name that the simulated servers (store) use for the cluster of this test.
func (s *site) cluster() string { return redispods.Cluster(s.ns, s.name) }

// awaitWhole waits until the cluster is healthy and matches the spec, and the status reports that.
func (s *site) awaitWhole() *redisv1alpha1.RedisEnterpriseCluster {
	s.Helper()
	var c *redisv1alpha1.RedisEnterpriseCluster
	eventually.True(s.T, leisurely, "the cluster is whole, and said to be", func() error {
		c = s.get()
		n := pods(c)
		ready := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionReady)
		switch reported := c.Status; {
		case reported.ObservedGeneration != c.Generation || ready.Status != "True":
			return fmt.Errorf("it is %s %s: %s", ready.Status, ready.Reason, ready.Message)
		case reported.State != redisv1alpha1.StateRunning || reported.Nodes != n || reported.ReadyNodes != n || reported.Shards != n || reported.Move != nil:
			return fmt.Errorf("it is said to be %s with %d nodes, %d of them ready, and %d shards; move: %+v", reported.State, reported.Nodes, reported.ReadyNodes, reported.Shards, reported.Move)
		}
		return errors.Join(store.Whole(s.cluster(), int(n)), reportsTheSlots(c))
	})
	return c
}

func pods(c *redisv1alpha1.RedisEnterpriseCluster) int32 {
	if c.Spec.Nodes == nil {
		return redisv1alpha1.DefaultNodes
	}
	return *c.Spec.Nodes
}

// reportsTheSlots returns an error if the status does not list the slots of both servers of each pod: the home server
// (usually a primary) and the guest server (usually a replica).
func reportsTheSlots(c *redisv1alpha1.RedisEnterpriseCluster) error {
	shards, copies := map[string]string{}, map[string]string{}
	for _, line := range c.Status.Slots {
		switch {
		case line.Place == redisv1alpha1.Home && line.Role == redisv1alpha1.Primary:
			shards[line.Pod] = line.Slots
		case line.Place == redisv1alpha1.Guest && line.Role == redisv1alpha1.Replica:
			copies[line.Pod] = line.Slots
		}
	}
	for i := range pods(c) {
		home, host := fmt.Sprintf("%s-%d", c.Name, i), fmt.Sprintf("%s-%d", c.Name, (i+1)%pods(c))
		if shards[home] == "" || copies[host] != shards[home] {
			return fmt.Errorf("pod %s is said to lead %q, and %s to follow with %q", home, shards[home], host, copies[host])
		}
	}
	return nil
}

// write makes a client write the given number of keys.
func (s *site) write(keys int) {
	s.Helper()
	if err := store.Write(s.cluster(), keys, 1000); err != nil {
		s.Fatalf("expected a client to be served: %v", err)
	}
}

// pods returns the pods of the cluster, sorted by name.
func (s *site) pods() []corev1.Pod {
	s.Helper()
	list := &corev1.PodList{}
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns), client.MatchingLabels{redisv1alpha1.ClusterLabel: s.name}); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

func (s *site) claims() []corev1.PersistentVolumeClaim {
	s.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// replaced waits until none of the given pods exists any more.
func (s *site) replaced(old ...corev1.Pod) {
	s.Helper()
	eventually.True(s.T, leisurely, "the pods are others", func() error {
		now := s.pods()
		for _, pod := range now {
			if slices.ContainsFunc(old, func(o corev1.Pod) bool { return o.UID == pod.UID }) {
				return fmt.Errorf("%s is there", pod.Name)
			}
		}
		return nil
	})
}

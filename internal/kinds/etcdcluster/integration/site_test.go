// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/etcdpods"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

type option func(*etcdv1beta2.EtcdCluster)

func sized(n int32) option { return func(c *etcdv1beta2.EtcdCluster) { c.Spec.Size = n } }

func versioned(v string) option { return func(c *etcdv1beta2.EtcdCluster) { c.Spec.Version = v } }

func withClaims(c *etcdv1beta2.EtcdCluster) {
	c.Spec.Pod = &etcdv1beta2.PodPolicy{PersistentVolumeClaimSpec: &corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func impatient(c *etcdv1beta2.EtcdCluster) {
	c.Spec.Healing = &etcdv1beta2.Healing{NodeLossAfter: "5s"}
}

// site is the namespace of a test, with its nodes and the operator. Its tenant, if it has one, creates and edits the
// cluster; otherwise an administrator does.
type site struct {
	*testing.T
	ns       string
	operator *operator.Process
	tenant   *operator.Tenant
	kubelets *etcdpods.Kubelets
	nodes    []string
}

var sites int

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteOf(t, 4, env.Operator)
}

// newSiteOf returns a site with a number of nodes; 110 pods fit on each.
func newSiteOf(t *testing.T, nodes int, start func(*testing.T) *operator.Process) *site {
	t.Helper()
	sites++ // kwok does not simulate pods on a node whose name was used before, so every site has new node names
	s := &site{T: t, nodes: env.Nodes(t, nodes, testenv.NodeSpec{Prefix: fmt.Sprint("site", sites)})}
	s.ns = env.Namespace(t)
	s.kubelets = etcdpods.Follow(t, env.Config, env.Client, store)
	s.operator = start(t)
	env.Clear(t, &etcdv1beta2.EtcdClusterList{}, s.ns)
	t.Cleanup(func() {
		if bad := store.Violations(); len(bad) > 0 {
			t.Errorf("expected no data to be lost and no second history, got %q", bad)
		}
	})
	return s
}

func (s *site) create(options ...option) {
	s.Helper()
	if err := env.As(s.tenant).Create(s.Context(), s.object(options...)); err != nil {
		s.Fatal(err)
	}
}

func (s *site) object(options ...option) *etcdv1beta2.EtcdCluster {
	c := &etcdv1beta2.EtcdCluster{}
	c.Namespace, c.Name, c.Spec.Size, c.Spec.Version = s.ns, "db", 3, "3.5.35"
	for _, option := range options {
		option(c)
	}
	return c
}

func (s *site) get() *etcdv1beta2.EtcdCluster {
	s.Helper()
	c := &etcdv1beta2.EtcdCluster{}
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: "db"}, c); err != nil {
		s.Fatal(err)
	}
	return c
}

// edit changes the spec as a user would.
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

// patch changes an object as another client would.
func (s *site) patch(object client.Object, merge string) {
	s.Helper()
	if err := env.Client.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(merge)), client.FieldOwner("another")); err != nil {
		s.Fatal(err)
	}
}

func (s *site) delete(object client.Object) {
	s.Helper()
	if err := env.Client.Delete(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// await waits until Ready has the given status and reason for the current spec, and its message contains the words.
func (s *site) await(statusReason string, words ...string) *etcdv1beta2.EtcdCluster {
	s.Helper()
	return s.awaitCondition(etcdv1beta2.EtcdClusterReady, statusReason, words...)
}

func (s *site) awaitCondition(kind, statusReason string, words ...string) *etcdv1beta2.EtcdCluster {
	s.Helper()
	var c *etcdv1beta2.EtcdCluster
	operator.Until(s.T, fmt.Sprintf("%s is %s and says %q", kind, statusReason, words), func() error {
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

// awaitWhole waits until Ready reports the desired number of members, and the members in etcd match the pods.
func (s *site) awaitWhole() *etcdv1beta2.EtcdCluster {
	s.Helper()
	var c *etcdv1beta2.EtcdCluster
	operator.Until(s.T, "all members are there, and said to be", func() error {
		c = s.get()
		if found := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterReady); c.Status.ObservedGeneration != c.Generation || found.Status != metav1.ConditionTrue {
			return fmt.Errorf("it is %s %s: %s", found.Status, found.Reason, found.Message)
		}
		var members []string
		for _, m := range store.Members(string(c.UID)) {
			if !store.Serving(m.Name) || m.Learner {
				return fmt.Errorf("member %s does not serve, or is a learner", m.Name)
			}
			members = append(members, m.Name)
		}
		pods := names(s.pods())
		slices.Sort(members)
		slices.Sort(pods)
		if !slices.Equal(members, pods) || int32(len(pods)) != c.Spec.Size || c.Status.Size != c.Spec.Size {
			return fmt.Errorf("members %q, pods %q, status.size %d of %d", members, pods, c.Status.Size, c.Spec.Size)
		}
		return nil
	})
	return c
}

// pods returns the pods of members, sorted by name, except those that are being deleted.
func (s *site) pods() []corev1.Pod {
	s.Helper()
	pods := &corev1.PodList{}
	if err := env.Client.List(s.Context(), pods, client.InNamespace(s.ns), client.MatchingLabels{"etcd_cluster": "db"}); err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}

func names(pods []corev1.Pod) []string {
	var out []string
	for _, pod := range pods {
		out = append(out, pod.Name)
	}
	return out
}

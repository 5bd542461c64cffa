// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestTheChildrenOfTheArticlesClusterAndOfOneWithAllFields(t *testing.T) {
	for name, c := range map[string]*etcdv1beta2.EtcdCluster{
		"article": newCluster(unformed), "all-fields": newCluster(unformed, withClaims, withAll),
	} {
		w := observed(c, 0)
		d := w.decide(c)
		golden.Check(t, name+"-peers.yaml", peerService(c))
		golden.Check(t, name+"-clients.yaml", forClients(c))
		golden.Check(t, name+"-connection.yaml", connection(c))
		golden.Check(t, name+"-budget.yaml", disruptionBudget(c, d))
		golden.Check(t, name+"-pod.yaml", w.pod(c, d.members[1], d.members, wanted(c)))
		if persistent(c) {
			golden.Check(t, name+"-claim.yaml", w.claim(c, d.members[1]))
		}
	}
}

func withAll(c *etcdv1beta2.EtcdCluster) {
	c.Spec.Repository = "registry.example.com/etcd"
	c.Spec.TLS = &etcdv1beta2.TLSPolicy{Static: &etcdv1beta2.StaticTLS{
		Member: &etcdv1beta2.MemberSecret{PeerSecret: "peers", ServerSecret: "servers"}, OperatorSecret: "operator",
	}}
	p := policy(c)
	p.Labels, p.Annotations = map[string]string{"team": "a"}, map[string]string{"note": "b"}
	p.NodeSelector, p.AntiAffinity, p.ClusterDomain = map[string]string{"disk": "ssd"}, true, ".cluster.local"
	p.Tolerations = []corev1.Toleration{{Key: "db", Operator: corev1.TolerationOpExists}}
	p.EtcdEnv = []etcdv1beta2.EnvVar{{Name: "ETCD_AUTO_COMPACTION_RETENTION", Value: "1"}}
	p.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
	p.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(9))}
	p.PersistentVolumeClaimSpec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
}

func TestAPodThatJoinsKnowsAllMembersAndMayNotBeginAClusterOfItsOwn(t *testing.T) {
	w := observed(newCluster(), 3).joining(3, false)
	d := w.decide(w.c)
	golden.Check(t, "joining-pod.yaml", w.pod(w.c, d.members[3], d.members, wanted(w.c)))
}

func TestTheNamesOfMembersAreThoseOfTheClusterAndTheirNumber(t *testing.T) {
	c, other := newCluster(), newCluster(func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	if a, b := memberName(c, 1), memberName(c, 1); a != b || len(a) != len("example-")+10 {
		t.Errorf("expected two processes to name a member alike, with ten characters, got %s and %s", a, b)
	}
	if memberName(c, 1) == memberName(c, 2) || memberName(c, 1) == memberName(other, 1) {
		t.Error("expected another name for another number and for a later cluster of the same name")
	}
}

func TestWhatTheOperatorAddsOfItsOwnAndWhatDoesNotConcernPodsRestartsNobody(t *testing.T) {
	before := wishes(newCluster(withClaims))
	for name, o := range map[string]option{
		"size": sized(5), "version": versioned("3.6.16"), "hibernate": hibernates,
		"busyboxImage": func(c *etcdv1beta2.EtcdCluster) { policy(c).BusyboxImage = "x" },
		"a larger claim": func(c *etcdv1beta2.EtcdCluster) {
			policy(c).PersistentVolumeClaimSpec.StorageClassName = new("fast")
		},
	} {
		if wishes(newCluster(withClaims, o)) != before {
			t.Errorf("expected a change of %s to make no pod anew", name)
		}
	}
	if wishes(newCluster(withClaims, withEnv("A", "1"))) == before {
		t.Error("expected a change of the environment to make pods anew")
	}
}

func TestThePlanOfAnObjectThatGoesIsEmpty(t *testing.T) {
	c := newCluster()
	c.DeletionTimestamp = &metav1.Time{Time: noon}
	if plan := (&reconciler{}).Plan(c, facts{}, noon); len(plan.Children) > 0 || len(plan.Prune) > 0 || plan.Step != nil {
		t.Errorf("expected nothing to be done, got %+v", plan)
	}
}

func TestAnOldViewOfAFormedClusterBeginsNothing(t *testing.T) {
	c := newCluster(unformed)
	w := observed(c, 0)
	w.behind = true
	if plan := (&reconciler{}).Plan(c, w.facts, noon); len(plan.Children) > 0 || plan.Again == 0 {
		t.Errorf("expected it to wait for a newer view, got %d children", len(plan.Children))
	}
}

func TestTheBudgetIsThereOnlyWhereThereIsMoreThanOneMember(t *testing.T) {
	for size, want := range map[int32]int{1: 4, 3: 7} { // services, connection, pods, and the budget
		c := newCluster(unformed, sized(size))
		w := observed(c, 0)
		if got := len((&reconciler{}).Plan(c, w.facts, noon).Children); got != want {
			t.Errorf("size %d: expected %d children, got %d", size, want, got)
		}
	}
}

func TestWhoStragglesIsWaitedForAWhile(t *testing.T) {
	c := newCluster(unformed)
	w := observed(c, 3)
	if !w.formed(c) {
		t.Error("expected a cluster all of whose members answer to be formed")
	}
	w = w.down(2)
	w.quorumSince = noon.Add(-time.Second)
	if w.formed(c) || w.formsIn(c) != straggle-time.Second {
		t.Errorf("expected the third member to be waited for, another %s", w.formsIn(c))
	}
	w.quorumSince = noon.Add(-straggle)
	if !w.formed(c) {
		t.Error("expected a quorum to be enough after a while")
	}
}

// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// healing returns the part of a spec that sets how long a node must be silent before the operator replaces its member.
func healing(after string) map[string]any {
	return map[string]any{"healing": map[string]any{"nodeLossAfter": after}}
}

// both returns the two parts of a spec as a list.
func both(a, b map[string]any) []map[string]any { return []map[string]any{a, b} }

// nodeWithoutLeader returns a node that runs members, but not the leader of the operator. So the time that a test
// measures after a crash of this node includes no failover of the operator.
func (e *etcdTest) nodeWithoutLeader(t *testing.T) string {
	t.Helper()
	leader := &corev1.Pod{}
	if err := e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: e.leader(t, dataLayer)}, leader); err != nil {
		t.Fatal(err)
	}
	pods := e.pods(t)
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName != leader.Spec.NodeName })
	if i < 0 {
		t.Fatalf("all members run on %s, but should be spread over the nodes", leader.Spec.NodeName)
	}
	return pods[i].Spec.NodeName
}

// membersOn returns the names of the members whose pods run on a node.
func (e *etcdTest) membersOn(t *testing.T, node string) []string {
	t.Helper()
	return names(slices.DeleteFunc(e.pods(t), func(p corev1.Pod) bool { return p.Spec.NodeName != node }))
}

// awaitElsewhere waits until three members are ready on other nodes. None of them may be a lost member.
func (e *etcdTest) awaitElsewhere(t *testing.T, node string, lost []string) {
	t.Helper()
	eventually.True(t, 3*time.Minute, fmt.Sprintf("other members have replaced %q outside node %s", lost, node), func() error {
		s, _ := e.status(t)
		if len(s.Members.Ready) != 3 || s.Size != 3 {
			return fmt.Errorf("the status is %+v", s)
		}
		for _, name := range lost {
			if slices.Contains(s.Members.Ready, name) {
				return fmt.Errorf("%s is still a member", name)
			}
		}
		if on := e.membersOn(t, node); len(slices.DeleteFunc(on, func(name string) bool { return slices.Contains(lost, name) })) > 0 {
			return fmt.Errorf("the members %q run on %s", on, node)
		}
		return e.wantVoters(t, s.Members.Ready, s.CurrentVersion)
	})
}

func TestTheMembersOfANodeThatIsGoneAreReplaced(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			e.create(t, asked(3, etcd.V36, both(how, healing("10s"))...))
			e.wantSpread(t)
			e.during(t, "the crash of a node", false, func() {
				node := e.nodeWithoutLeader(t)
				lost, begin := e.membersOn(t, node), time.Now()
				e.crash(t, node)
				e.awaitElsewhere(t, node, lost)
				t.Logf("the member of %s was replaced in %s", node, time.Since(begin).Round(100*time.Millisecond))
				e.start(t, node)
				e.await(t, 3, etcd.V36)
			})
		})
	}
}

// wantSpread checks that the three members run on three different nodes.
func (e *etcdTest) wantSpread(t *testing.T) {
	t.Helper()
	nodes := map[string]bool{}
	for _, p := range e.pods(t) {
		nodes[p.Spec.NodeName] = true
	}
	if len(nodes) != 3 {
		t.Errorf("the members should run on three nodes, but run on %v", nodes)
	}
}

func TestANodeThatComesBackInTimeBringsItsMemberOfAnEtcdClusterBack(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	// This spec keeps the default of nodeLossAfter, so a node counts as lost only after five minutes.
	e.create(t, asked(3, etcd.V36, withClaims()))
	members := names(e.pods(t))
	e.during(t, "a node away for a while", false, func() {
		node := e.nodeWithoutLeader(t)
		e.crash(t, node)
		e.awaitUnready(t)
		e.start(t, node)
		if now := e.await(t, 3, etcd.V36).Members.Ready; !slices.Equal(slices.Sorted(slices.Values(now)), members) {
			t.Errorf("expected the members %q to stay, they are %q", members, now)
		}
	})
}

// awaitUnready waits until the status of the EtcdCluster reports that a member is not ready.
func (e *etcdTest) awaitUnready(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, "the status reports that a member is not ready", func() error {
		if s, _ := e.status(t); len(s.Members.Unready) == 0 {
			return errors.New("the status says that all members are ready")
		}
		return nil
	})
}

func TestANodeThatIsCutOffHurtsNoClientOfAnEtcdCluster(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withClaims()))
	e.during(t, "a cut link", false, func() {
		node := e.nodeWithoutLeader(t)
		e.run(t, "localcluster", "node", "cut", node)
		heal := func() { e.run(t, "localcluster", "node", "heal", node) }
		t.Cleanup(heal) // reconnecting a connected node is no error
		e.awaitUnready(t)
		heal()
		e.await(t, 3, etcd.V36)
	})
}

func TestAMemberOfAnEtcdClusterThatHangsHurtsNoClient(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withClaims()))
	members := names(e.pods(t))
	e.during(t, "members that hang, one after the other", false, func() {
		for _, pod := range e.pods(t) {
			e.toEtcd(t, pod, "kill -STOP $etcd")
			e.awaitUnready(t)
			// The stopped process may not exist any more, because the kubelet may have replaced its container.
			_ = e.program("localcluster", "node", "exec", pod.Spec.NodeName, "--", "sh", "-c", "kill -CONT "+fmt.Sprintf(process, pod.Name)).Run()
			e.await(t, 3, etcd.V36)
		}
	})
	if now := names(e.pods(t)); !slices.Equal(now, members) {
		t.Errorf("a member that hangs must not be replaced; the members were %q and are %q", members, now)
	}
}

func TestAnEtcdClusterOutlivesTheRestartOfAllNodes(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withClaims()))
	before, members := e.await(t, 3, etcd.V36), names(e.pods(t))
	e.during(t, "the restart of all nodes", true, func() {
		nodes := []string{"node1", "node2", "node3"}
		for _, node := range nodes {
			e.crash(t, node)
		}
		for _, node := range nodes {
			e.start(t, node)
		}
		e.waitOperator(t, dataLayer)
		now := e.await(t, 3, etcd.V36)
		if now.ClusterID != before.ClusterID || strings.Join(names(e.pods(t)), " ") != strings.Join(members, " ") {
			t.Errorf("the cluster ID was %s with members %q, and is %s with members %q", before.ClusterID, members, now.ClusterID, names(e.pods(t)))
		}
	})
}

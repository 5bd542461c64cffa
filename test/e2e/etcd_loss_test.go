// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// process is a shell expression for the pid of a member's etcd on its node. It matches the exact name "etcd", because
// the program that starts etcd has another name. It also matches --name, because other members' arguments contain the
// member's name too.
const process = `$(pgrep -x etcd -a | grep -E -- '--name[= ]%s( |$)' | cut -d ' ' -f 1)`

// toEtcd runs a script on the node of a member. In the script, $etcd is the pid of the member's etcd.
func (e *etcdTest) toEtcd(t *testing.T, pod corev1.Pod, script string) {
	t.Helper()
	e.run(t, "localcluster", "node", "exec", pod.Spec.NodeName, "--", "sh", "-c",
		"set -e; etcd="+fmt.Sprintf(process, pod.Name)+`; [ -n "$etcd" ]; `+script)
}

// wipe simulates the loss of a running member's volume. It deletes the files and then kills the process. It first stops
// the process with SIGSTOP, so that the process cannot create new files.
const wipe = `kill -STOP $etcd; find /proc/$etcd/root/var/etcd/ -mindepth 1 -delete; kill -KILL $etcd`

func TestAWipedMemberOfAnEtcdClusterIsReplacedByALearner(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			e.create(t, asked(3, etcd.V36, how))
			e.during(t, "the loss of a volume", false, func() {
				victim := e.pods(t)[0]
				old := e.memberID(t, victim.Name)
				e.toEtcd(t, victim, wipe)
				e.awaitMemberGone(t, old)
				e.await(t, 3, etcd.V36)
			})
		})
	}
}

// memberID returns the ID that etcd has assigned to a member.
func (e *etcdTest) memberID(t *testing.T, name string) uint64 {
	t.Helper()
	var id uint64
	err := e.ask(t, e.clientURL(name), func(ctx context.Context, c *clientv3.Client) error {
		r, err := c.Status(ctx, c.Endpoints()[0])
		if err == nil {
			id = r.Header.MemberId
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// awaitMemberGone waits until the other members have removed a member. A wiped member must not continue under the same
// ID, because it has forgotten its votes.
func (e *etcdTest) awaitMemberGone(t *testing.T, id uint64) {
	t.Helper()
	eventually.True(t, 2*time.Minute, fmt.Sprintf("the other members have removed member %x", id), func() error {
		return e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
			r, err := c.MemberList(ctx)
			if err != nil {
				return err
			}
			for _, m := range r.Members {
				if m.ID == id {
					return fmt.Errorf("etcd still lists the member: %v", m)
				}
			}
			return nil
		})
	})
}

// TestTwoWipedMembersOfThreeFormNoSecondHistory wipes two of three volumes at the same time. If both members started
// with empty volumes, they would form a quorum without data, under the same cluster ID.
func TestTwoWipedMembersOfThreeFormNoSecondHistory(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withClaims()))
	e.put(t, "foo", "bar")
	c := e.startClient(t)
	awaitServed(t, c, "before the loss of two volumes")
	pods := e.pods(t)
	e.toEtcd(t, pods[0], wipe)
	e.toEtcd(t, pods[1], wipe)
	e.awaitSays(t, metav1.ConditionFalse, "uorum")
	before := c.Totals()
	eventually.Stays(t, 45*time.Second, "the cluster has no quorum, and the remaining member keeps its data", func() error {
		if now := c.Totals(); now.Requests-len(now.Failed) > before.Requests-len(before.Failed)+c.Workers {
			return fmt.Errorf("etcd completed requests after the quorum was lost: %+v", now)
		}
		return e.ask(t, e.clientURL(pods[2].Name), func(ctx context.Context, c *clientv3.Client) error {
			r, err := c.Get(ctx, "foo", clientv3.WithSerializable())
			if err == nil && (len(r.Kvs) != 1 || string(r.Kvs[0].Value) != "bar") {
				return fmt.Errorf("the value of foo is %v", r.Kvs)
			}
			return err
		})
	})
	e.awaitSays(t, metav1.ConditionFalse, "uorum")
	report, violations := c.Abandon()
	t.Log(report)
	if len(violations) > 0 {
		t.Errorf("the client found violations:\n%s", strings.Join(violations, "\n"))
	}
}

func TestADeletedPodOfAnEtcdClusterIsNotMissed(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			e.create(t, asked(3, etcd.V36, how))
			e.during(t, "deletions of pods, one after the other", false, func() {
				for _, pod := range e.pods(t) {
					e.deletePod(t, pod)
					ready := e.await(t, 3, etcd.V36).Members.Ready
					if same := slices.Contains(ready, pod.Name); same != (storage == "claims") {
						t.Errorf("a member that still has its data must not be replaced; after the deletion of %s the members are %q", pod.Name, ready)
					}
				}
			})
		})
	}
}

func TestAllPodsOfAnEtcdClusterDeletedAtOnceComeBackWithTheirData(t *testing.T) {
	for _, grace := range []string{"--now", "--force"} {
		t.Run(grace, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			e.create(t, asked(3, etcd.V36, withClaims()))
			id, pods := e.await(t, 3, etcd.V36).ClusterID, e.pods(t)
			e.during(t, "the deletion of all pods at once", true, func() {
				e.kubectl(t, "delete", "pods", "-n", e.ns, "-l", "etcd_cluster="+articleEtcd, "--wait=false", grace)
				e.awaitSuccessors(t, pods)
				if now := e.await(t, 3, etcd.V36); now.ClusterID != id || !slices.Equal(names(e.pods(t)), names(pods)) {
					t.Errorf("the cluster ID was %s with members %q, and is %s with members %q", id, names(pods), now.ClusterID, names(e.pods(t)))
				}
			})
		})
	}
}

// awaitSuccessors waits until all given pods are gone and as many new pods exist.
func (e *etcdTest) awaitSuccessors(t *testing.T, old []corev1.Pod) {
	t.Helper()
	eventually.True(t, 2*time.Minute, fmt.Sprintf("%d pods have been replaced", len(old)), func() error {
		now := e.pods(t)
		for _, p := range now {
			if slices.ContainsFunc(old, func(o corev1.Pod) bool { return o.UID == p.UID }) {
				return fmt.Errorf("%s still exists", p.Name)
			}
		}
		if len(now) != len(old) {
			return fmt.Errorf("the pods are %q", names(now))
		}
		return nil
	})
}

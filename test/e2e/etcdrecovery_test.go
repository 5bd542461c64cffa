// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// recovering returns the part of a spec that allows recovery from the remaining data after a loss of the quorum.
func recovering(policy etcdv1beta2.RecoveryPolicy) map[string]any {
	return map[string]any{"recovery": map[string]any{"quorumLoss": string(policy)}}
}

// typed returns the EtcdCluster as a typed object.
func (e *etcdTest) typed(t *testing.T) *etcdv1beta2.EtcdCluster {
	t.Helper()
	c := &etcdv1beta2.EtcdCluster{}
	if err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: articleEtcd}, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// newRecoveryTest creates an EtcdCluster with volumes.
func newRecoveryTest(t *testing.T, more ...map[string]any) *etcdTest {
	t.Helper()
	e := newEtcdTest(t, etcd.V36)
	if err := etcdv1beta2.AddToScheme(e.Scheme()); err != nil {
		t.Fatal(err)
	}
	e.create(t, asked(3, etcd.V36, append([]map[string]any{withClaims()}, more...)...))
	return e
}

// recovered waits until the cluster has recovered, and returns the progress in its status.
func (e *etcdTest) recovered(t *testing.T) *etcdv1beta2.RestoreProgress {
	t.Helper()
	eventually.True(t, 3*time.Minute, "the cluster has recovered from the remaining data", func() error {
		if at := e.typed(t).Status.Restore; at == nil || at.Recovery == nil || at.Phase != etcdv1beta2.PhaseRestored {
			return fmt.Errorf("the status is %+v", e.typed(t).Status)
		}
		return nil
	})
	e.await(t, 3, etcd.V36)
	return e.typed(t).Status.Restore
}

// annotateWithPlan waits for the recovery plan in the status of a cluster without a quorum, and confirms the plan as a
// user does.
func (e *etcdTest) annotateWithPlan(t *testing.T) {
	t.Helper()
	digest := ""
	eventually.True(t, 2*time.Minute, "the status contains a recovery plan", func() error {
		loss := e.typed(t).Status.QuorumLoss
		if loss == nil || loss.Digest == "" {
			return fmt.Errorf("status.quorumLoss is %+v", loss)
		}
		digest = loss.Digest
		return nil
	})
	e.awaitSays(t, metav1.ConditionFalse, etcdv1beta2.RecoverAnnotation+"="+digest)
	eventually.Stays(t, 10*time.Second, "nothing is done before a user requests it", func() error {
		if at := e.typed(t).Status.Restore; at != nil {
			return fmt.Errorf("the progress is %+v", at)
		}
		return nil
	})
	e.kubectl(t, "annotate", "-n", e.ns, "etcdcluster/"+articleEtcd, etcdv1beta2.RecoverAnnotation+"="+digest)
}

func TestAnEtcdClusterThatHasLostTwoOfThreeVolumesUnderLoadGoesOnFromTheThird(t *testing.T) {
	for _, policy := range []etcdv1beta2.RecoveryPolicy{etcdv1beta2.RecoveryAutomatic, etcdv1beta2.RecoveryManual} {
		t.Run(string(policy), func(t *testing.T) {
			e := newRecoveryTest(t, recovering(policy))
			before := e.typed(t).Status.ClusterID
			clients, writes := e.startClient(t), e.startLedger(t)
			awaitServed(t, clients, "before the loss of two volumes")
			writes.awaitMore(t, 100)
			pods := e.pods(t)
			e.toEtcd(t, pods[0], wipe)
			e.toEtcd(t, pods[1], wipe)
			lost, known := time.Now(), writes.revision()
			// Until the loss, the recorded requests and events must be consistent.
			if report, violations := clients.Abandon(); len(violations) > 0 {
				t.Errorf("the client found violations:\n%s\n%s", strings.Join(violations, "\n"), report)
			}
			if policy == etcdv1beta2.RecoveryManual {
				e.annotateWithPlan(t)
			}
			at := e.recovered(t)
			t.Logf("the cluster had recovered after %s: %s", time.Since(lost).Round(100*time.Millisecond), at.Message)
			if now := e.typed(t).Status.ClusterID; now == before || at.Recovery.Member != pods[2].Name || at.Revision <= known {
				t.Errorf("expected another cluster, from %s, past revision %d; got %s, %+v", pods[2].Name, known, now, at)
			}
			writes.awaitMore(t, 20)
			writes.wantBound(t, at)
			e.during(t, "the time after a recovery", false, func() {})
		})
	}
}

func TestAnEtcdClusterThatHasLostAllVolumesGoesOnFromTheNewestBackupThatWasProven(t *testing.T) {
	e := newRecoveryTest(t, recovering(etcdv1beta2.RecoveryAutomatic))
	e.put(t, "foo", "saved")
	e.wantClaim(t, "backups")
	place := onClaim("example/etcd")
	place.Verify = &etcdv1beta2.VerifyPolicy{Every: 1}
	e.backUp(t, "proven", place)
	saved := e.backup(t, "proven", "is restorable", func(b *etcdv1beta2.EtcdBackup) bool { return b.Status.Verified != nil })
	e.put(t, "foo", "later")
	for _, pod := range e.pods(t) {
		e.toEtcd(t, pod, wipe)
	}
	at := e.recovered(t)
	if at.Recovery.Backup != "proven" || at.Object != saved.Status.Verified.Object || at.Revision <= saved.Status.EtcdRevision {
		t.Errorf("expected what EtcdBackup proven has, got %+v, %+v", at, at.Recovery)
	}
	e.wantValue(t, "foo", "saved")
}

// TestAnEtcdClusterWhoseMajorityIsCutOffIsNotGivenUp disconnects two nodes for longer than nodeLossAfter. The members
// on these nodes may still run and serve clients that the operator cannot see, so the operator must not replace them.
func TestAnEtcdClusterWhoseMajorityIsCutOffIsNotGivenUp(t *testing.T) {
	e := newRecoveryTest(t, recovering(etcdv1beta2.RecoveryAutomatic), healing("5s"))
	e.wantSpread(t)
	e.put(t, "foo", "bar")
	before := e.typed(t).Status
	cut := e.nodesWithoutLeader(t)
	for _, node := range cut {
		e.run(t, "localcluster", "node", "cut", node)
		// The node may already be connected again.
		t.Cleanup(func() { _ = e.program("localcluster", "node", "heal", node).Run() })
	}
	e.awaitSays(t, metav1.ConditionFalse, "does not report, and may still run the member")
	eventually.Stays(t, 30*time.Second, "the cluster waits for them", func() error {
		if s := e.typed(t).Status; s.Restore != nil || s.ClusterID != before.ClusterID {
			return fmt.Errorf("the status is %+v", s)
		}
		return nil
	})
	for _, node := range cut {
		e.run(t, "localcluster", "node", "heal", node)
	}
	e.await(t, 3, etcd.V36)
	if now := e.typed(t).Status.ClusterID; now != before.ClusterID {
		t.Errorf("the cluster ID was %s and is %s", before.ClusterID, now)
	}
	e.wantValue(t, "foo", "bar")
}

// nodesWithoutLeader returns the nodes that run members, but not the leader of the operator.
func (e *etcdTest) nodesWithoutLeader(t *testing.T) []string {
	t.Helper()
	leader := &corev1.Pod{}
	if err := e.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: e.leader(t, dataLayer)}, leader); err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for _, p := range e.pods(t) {
		if p.Spec.NodeName != leader.Spec.NodeName && !slices.Contains(nodes, p.Spec.NodeName) {
			nodes = append(nodes, p.Spec.NodeName)
		}
	}
	return nodes
}

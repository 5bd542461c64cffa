// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// asking returns the UID of the EtcdRestore that restores the test's cluster.
func (e *etcdTest) asking(t *testing.T) string {
	t.Helper()
	r := &etcdv1beta2.EtcdRestore{}
	if err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: articleEtcd}, r); err != nil {
		t.Fatal(err)
	}
	return string(r.UID)
}

// seed waits for the pod of the first member of a restored cluster, and returns it. This member starts from the backup.
func (e *etcdTest) seed(t *testing.T) *corev1.Pod {
	t.Helper()
	uid := e.asking(t)
	var found *corev1.Pod
	eventually.True(t, time.Minute, "a member starts from the backup", func() error {
		pods := &corev1.PodList{}
		if err := e.List(t.Context(), pods, client.InNamespace(e.ns), client.MatchingLabels{"etcd_cluster": articleEtcd}); err != nil {
			return err
		}
		for i := range pods.Items {
			if p := &pods.Items[i]; p.Annotations["etcd.opcrew.io/restore"] == uid && p.DeletionTimestamp == nil {
				found = p
				return nil
			}
		}
		return errNotReady
	})
	return found
}

// atSteps returns functions by name. Each function waits for one step of a restore, at which the test kills a process.
func (e *etcdTest) atSteps(t *testing.T) map[string]func() {
	phase := func(want string) func() {
		return func() {
			eventually.True(t, 3*time.Minute, "the restore is "+want, func() error {
				if at := e.typed(t).Status.Restore; at == nil || at.UID != e.asking(t) || at.Phase != want {
					return fmt.Errorf("the progress is %+v", at)
				}
				return nil
			})
		}
	}
	return map[string]func(){
		"when it is taken up":            phase(etcdv1beta2.PhaseRestoring),
		"when the member begins with it": func() { e.seed(t) },
		"when that serves": func() {
			eventually.True(t, 2*time.Minute, "the member serves", func() error {
				if !workload.Ready(e.seed(t)) {
					return errNotReady
				}
				return nil
			})
		},
		"when the cluster has gone over": phase(etcdv1beta2.PhaseRestored),
	}
}

func TestARestoreOfAnEtcdClusterIsCarriedThroughThoughTheOperatorOrItsPodIsKilledAtAnyStep(t *testing.T) {
	e := newRecoveryTest(t)
	e.put(t, "foo", "saved")
	e.wantClaim(t, "backups")
	place := onClaim("example/etcd")
	e.backUp(t, "before", place)
	e.backup(t, "before", "is saved", readySays(metav1.ConditionTrue, etcdv1beta2.ReasonSaved))
	kills := map[string]func(){
		"operator": func() { e.kill(t, e.leader(t, dataLayer)) },
		"pod":      func() { e.kubectl(t, "delete", "pod", "-n", e.ns, e.seed(t).Name, "--force") },
	}
	for step, come := range e.atSteps(t) {
		for what, kill := range kills {
			t.Run(what+" "+step, func(t *testing.T) {
				e.put(t, "foo", "later")
				e.restore(t, place.StorageType, place.Storage)
				if come(); what == "pod" {
					e.seed(t)
				}
				kill()
				e.restored(t, metav1.ConditionTrue, etcdv1beta2.ReasonRestored)
				e.await(t, 3, etcd.V36)
				e.wantValue(t, "foo", "saved")
				e.kubectl(t, "delete", "-n", e.ns, "etcdrestore/"+articleEtcd, "--timeout=60s")
			})
		}
	}
}

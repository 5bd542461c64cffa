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
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/test/testenv/backuppods"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// seedOf returns the pod of the first member that a restore creates, even if it is being deleted; nil if there is none.
func (s *site) seedOf(r *etcdv1beta2.EtcdRestore) *corev1.Pod {
	s.Helper()
	pods := &corev1.PodList{}
	if err := env.Client.List(s.Context(), pods, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	for i := range pods.Items {
		order, err := backup.ParseOrder(pods.Items[i].Annotations[backuppods.OrderAnnotation])
		if err == nil && strings.HasPrefix(order.ID, string(r.UID)+"/") {
			return &pods.Items[i]
		}
	}
	return nil
}

func (s *site) awaitSeed(r *etcdv1beta2.EtcdRestore) *corev1.Pod {
	s.Helper()
	operator.Until(s.T, "the seed has a pod", func() error {
		if s.seedOf(r) == nil {
			return fmt.Errorf("it has none, the restore is %+v", s.get().Status.Restore)
		}
		return nil
	})
	return s.seedOf(r)
}

// awaitPhase waits until the cluster's status shows that the restore is in the given phase.
func (s *site) awaitPhase(r *etcdv1beta2.EtcdRestore, phase string) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("restore %s is %s", r.UID, phase), func() error {
		if at := s.get().Status.Restore; at == nil || at.UID != string(r.UID) || at.Phase != phase {
			return fmt.Errorf("it is %+v", at)
		}
		return nil
	})
}

// hasDataOf fails the test if a member does not belong to the cluster that the restore created.
func (s *site) hasDataOf(r *etcdv1beta2.EtcdRestore) {
	s.Helper()
	var members []string
	for _, m := range store.Members(fmt.Sprintf("%s/%s", s.get().UID, r.UID)) {
		members = append(members, m.Name)
	}
	pods := names(s.pods())
	slices.Sort(members)
	if slices.Sort(pods); !slices.Equal(members, pods) {
		s.Errorf("expected all members to have what %s holds, those that have are %q, and pods are %q", r.Spec.S3.Path, members, pods)
	}
}

func TestARestoreThatFollowsOneUnderWayWaitsUntilThatIsCalledOffAndHasTheLastWord(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(options...)
			s.awaitWhole()
			pods := s.pods()
			store.Break(etcdtest.Fault{Call: "Members", Err: errors.New("no member is heard"), Times: 1_000_000}) // no restored member becomes ready
			defer store.Mend()
			first := s.restoreFrom("backups/first", "")
			seed := s.awaitSeed(first)
			s.patch(seed, `{"metadata":{"finalizers":["opcrew.io/test"]}}`) // the finalizer delays the deletion of the pod until the test removes it
			other := first.DeepCopy()
			other.Spec.S3.Path = "backups/second"
			if err := env.Client.Update(t.Context(), other); err == nil || !strings.Contains(err.Error(), "delete it, which cancels it if it has not finished") {
				t.Errorf("expected a restore that is under way not to become another, got %v", err)
			}
			s.delete(first)
			second := s.restoreFrom("backups/second", "")
			s.awaitPhase(first, etcdv1beta2.PhaseAbandoned)
			env.Settled(t, env.Audit.Mark(t))
			if at := s.get().Status.Restore; at.UID != string(first.UID) || s.seedOf(second) != nil {
				t.Errorf("expected the second restore to wait for what is left of the first, got %+v", at)
			}
			s.patch(seed, `{"metadata":{"finalizers":null}}`)
			s.awaitPhase(second, etcdv1beta2.PhaseRestoring)
			if s.seedOf(first) != nil {
				t.Error("expected nothing of the first restore to be there when the second is begun")
			}
			store.Mend()
			s.awaitRestored(second, pods)
			s.hasDataOf(second)
		})
	}
}

func TestARestoreThatFollowsOneThatWasCarriedThroughHasTheLastWord(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(options...)
			s.awaitWhole()
			before := s.pods()
			first := s.restoreFrom("backups/first", "")
			between := s.awaitRestored(first, before)
			pods := s.pods()
			s.delete(first)
			second := s.restoreFrom("backups/second", "")
			after := s.awaitRestored(second, append(before, pods...))
			s.hasDataOf(second)
			if after.Status.ClusterID == between.Status.ClusterID || after.Status.Restore.Serial <= between.Status.Restore.Serial {
				t.Errorf("expected another cluster of etcd, with other members than the first restore had, got %+v", after.Status)
			}
		})
	}
}

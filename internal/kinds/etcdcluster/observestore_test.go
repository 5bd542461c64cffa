// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Regression: when a member ran again, opcrew noticed it only in the prober's next view, seconds later.
func TestWhatAKubeletSaysOfAMemberHasTheMembersLookedAt(t *testing.T) {
	w := observed(clustertest.New(), 3)
	pod := w.pods[model.MemberName(w.c, 1)]
	for since, want := range map[time.Duration]bool{-2 * time.Second: false, 0: true, time.Second: true} {
		pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(clustertest.Noon.Add(since))
		if got := w.outrun(); got != want {
			t.Errorf("expected the members to be looked at for what was said %s after the last look: %v, got %v", since, want, got)
		}
	}
}

// Regression: the member list in the status was outdated, and opcrew queried no existing member.
func TestAMemberWithAPodIsReadEvenIfTheStatusDoesNotNameIt(t *testing.T) {
	w := unseen(observed(clustertest.New(), 3))
	w.c.Status.Membership = []etcdv1beta2.MemberIdentity{{ID: "1", Name: "example-gone"}}
	if got := w.endpoints(w.c); len(got) != 4 {
		t.Errorf("expected the member of the status and all that have pods to be asked, got %q", got)
	}
}

// Regression: another cluster answered at an address that had belonged to a member, and opcrew used its answer.
func TestWhatAnotherClusterSaysIsNoAnswer(t *testing.T) {
	c := clustertest.New(clustertest.WithClaims)
	w := observed(c, 3)
	w.view.ClusterID = 0xbad
	w.view, w.otherID = ownView(c, w.view)
	for _, m := range w.view.Members {
		c.Status.Membership = append(c.Status.Membership, etcdv1beta2.MemberIdentity{ID: "1", Name: m.Name})
	}
	d := w.decide(c)
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name = model.MemberName(c, 1)
	if d.next.Step != nil || !w.keeps(c, d)(claim) || w.view.Err == nil {
		t.Errorf("expected nothing to be done and every claim to stay, got %s", d.says())
	}
}

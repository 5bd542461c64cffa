// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func withPolicy(policy opsv1.DeletionPolicy) option {
	return func(d *opsv1.Diva) { d.Spec.DeletionPolicy = policy }
}

// awaitOwners waits until every claim has the given number of owners.
func (s *shop) awaitOwners(n int) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("all claims have %d owners", n), func() error {
		list := &corev1.PersistentVolumeClaimList{}
		s.list(list)
		for _, claim := range list.Items {
			if len(claim.OwnerReferences) != n {
				return fmt.Errorf("%s has %v", claim.Name, claim.OwnerReferences)
			}
		}
		return nil
	})
}

func (s *shop) claimUIDs() map[string]string {
	s.Helper()
	list, out := &corev1.PersistentVolumeClaimList{}, map[string]string{}
	s.list(list)
	for _, claim := range list.Items {
		if claim.DeletionTimestamp == nil {
			out[claim.Name] = string(claim.UID)
		}
	}
	return out
}

func TestTheDataGoesWithTheObjectWhereTheUserSaysSoAlsoThatOfClientsThatWent(t *testing.T) {
	s := newShop(t)
	s.create(3)
	s.awaitReady(3)
	s.edit(withClients(1))
	s.awaitReady(1)
	env.Settled(t, env.Audit.Mark(t))
	mark := env.Audit.Mark(t)
	s.edit(withPolicy(opsv1.DeletionDelete))
	s.awaitOwners(1)
	claims := func(c testenv.Call) bool { return c.Resource == "persistentvolumeclaims" }
	if writes := env.Settled(t, mark).Writes().Where(claims); len(writes) != 5 {
		t.Errorf("expected one write for each of 5 claims, got:\n%s", writes)
	}
	env.Rests(t)
	s.clear()
	operator.Until(t, "no claim is left", func() error {
		if left := s.claims(); len(left) > 0 {
			return fmt.Errorf("there is %v", left)
		}
		return nil
	})
}

func TestTheDataStaysWhereTheUserTakesBackThatItShallGo(t *testing.T) {
	s := newShop(t)
	s.create(3, withPolicy(opsv1.DeletionDelete))
	s.awaitReady(3)
	s.awaitOwners(1)
	before := s.claimUIDs()
	s.edit(withClients(1))
	s.awaitReady(1)
	s.edit(withPolicy(opsv1.DeletionRetain))
	s.awaitOwners(0)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.clear()
	env.Settled(t, env.Audit.Mark(t))
	if diff := cmp.Diff(before, s.claimUIDs()); diff != "" {
		t.Errorf("expected all claims to stay (-before +after):\n%s", diff)
	}
}

func TestTheDataOutlivesAStatefulSetThatAUserDeletes(t *testing.T) {
	s := newShop(t)
	s.create(2, withPolicy(opsv1.DeletionDelete))
	s.awaitReady(2)
	s.awaitOwners(1)
	before, set := s.claimUIDs(), s.set()
	if err := env.Client.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	s.awaitRecreated(set)
	s.awaitReady(2)
	env.Settled(t, env.Audit.Mark(t))
	if diff := cmp.Diff(before, s.claimUIDs()); diff != "" {
		t.Errorf("expected all claims to stay (-before +after):\n%s", diff)
	}
}

// A user may restore a claim from a backup. The restored claim lacks opcrew's labels. opcrew must still manage it.
func TestAClaimOfAClientWithoutOurLabelsIsHadAllTheSame(t *testing.T) {
	s := newShop(t)
	s.create(1)
	s.awaitReady(1)
	s.clear()
	claim := &corev1.PersistentVolumeClaim{}
	s.read("wi-ops-client-0", claim)
	claim.Labels = map[string]string{"team": "shop"}
	if err := env.Client.Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	s.create(1)
	s.awaitReady(1)
	operator.Until(t, "the claim has our labels beside the user's", func() error {
		s.read("wi-ops-client-0", claim)
		if claim.Labels["app.kubernetes.io/managed-by"] != "opcrew" || claim.Labels["team"] != "shop" {
			return fmt.Errorf("they are %v", claim.Labels)
		}
		return nil
	})
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

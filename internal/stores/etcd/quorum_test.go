// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
)

func TestWithoutAQuorumTheMembersThatRunAreSeen(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w, "a", "b", "c"))
		events(p)
		w.Stop("b")
		w.Stop("c")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		v := view(t, p, shop)
		if !errors.Is(v.Err, context.DeadlineExceeded) || v.HasQuorum() || len(v.Members) != 3 || v.Quorum() != 2 {
			t.Errorf("expected the members of the last list and why there is none now, got %+v", v)
		}
		for _, m := range v.Members {
			if up := v.Status[m.ID].Err == nil; up != (m.Name == "a") || v.Healthy(m.ID) {
				t.Errorf("expected %s to be up: %t, got %+v", m.Name, m.Name == "a", v.Status[m.ID])
			}
		}
		events(p)
		time.Sleep(time.Minute)
		if got := events(p); len(got) != 0 {
			t.Errorf("expected no other event, got %v", got)
		}
	})
}

func TestAClusterThatHangsHoldsUpNoOther(t *testing.T) {
	w := &etcdtest.World{}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		other := types.NamespacedName{Namespace: "shop", Name: "other"}
		p.Watch(shop, formed(w, "a"))
		p.Watch(other, formed(w, "x"))
		events(p)
		w.Hang("a")
		p.Poke(shop)
		time.Sleep(time.Second)
		w.Stop("x")
		p.Poke(other)
		if got := events(p); got["shop/other"] != 1 || got["shop/db"] != 0 {
			t.Errorf("expected an event of the other one only, got %v", got)
		}
		time.Sleep(time.Second)
		if got := events(p); got["shop/db"] != 1 || view(t, p, shop).Err == nil {
			t.Errorf("expected an event after two seconds as it hangs, got %v", got)
		}
	})
}

func TestAMemberThatHangsIsWaitedForOnce(t *testing.T) {
	w := &counted{World: &etcdtest.World{}}
	probing(t, w.Dial, func(t *testing.T, p *etcd.Prober) {
		p.Watch(shop, formed(w.World, "a", "b", "c"))
		events(p)
		w.Hang("c")
		p.Poke(shop)
		time.Sleep(2 * time.Second)
		if got, v := events(p), view(t, p, shop); got["shop/db"] != 1 || v.HealthyVoters() != 2 {
			t.Errorf("expected an event for two healthy members, got %v of %+v", got, v)
		}
		before := w.lists.Load()
		time.Sleep(7 * time.Second)
		if w.lists.Load() < before+19 {
			t.Errorf("expected a look every 350 ms, got %d in seven seconds", w.lists.Load()-before)
		}
		w.Wake("c")
		time.Sleep(2400 * time.Millisecond)
		synctest.Wait()
		if v := view(t, p, shop); v.HealthyVoters() != 3 {
			t.Errorf("expected to see that it answers again, got %+v", v)
		}
	})
}

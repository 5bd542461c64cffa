// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/upkeep"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
)

// crammed is a simulated cluster that refuses writes, because its members are out of space.
type crammed struct {
	*testing.T
	world
	sim   *etcdtest.World
	store etcd.Store
	clock *clocktesting.FakeClock
	r     *reconciler
	done  []string
}

// cram creates three members at revision 5000, with the given sizes of live keys and of history in MiB.
func cram(t *testing.T, live, history int64) *crammed {
	t.Helper()
	w := observed(clustertest.New(), 3)
	clock := clocktesting.NewFakeClock(clustertest.Noon)
	s := &crammed{T: t, world: w, sim: &etcdtest.World{Quota: quota}, clock: clock}
	s.restarted()
	var initial, clients []string
	for _, m := range w.view.Members {
		initial, clients = append(initial, m.Name+"="+m.PeerURLs[0]), append(clients, m.ClientURLs[0])
	}
	for _, m := range w.view.Members {
		s.sim.Run(etcdtest.Process{
			Name: m.Name, PeerURL: m.PeerURLs[0], ClientURL: m.ClientURLs[0], Volume: m.Name,
			Token: "t", InitialCluster: strings.Join(initial, ","), Version: w.c.Status.CurrentVersion,
		})
	}
	s.store, _ = s.sim.Dial(etcd.Target{Endpoints: clients})
	s.write(5000, live*mebi, history*mebi)
	return s
}

func (s *crammed) write(times, live, history int64) {
	s.Helper()
	if err := s.sim.Write("t", times, live, history); err != nil {
		s.Fatal(err)
	}
}

// restarted replaces the operator's process by a new one, which remembers nothing.
func (s *crammed) restarted() {
	s.r = &reconciler{Tools: &kit.Tools{Clock: s.clock, Events: &events.FakeRecorder{}}}
}

// look reads the members as the prober does.
func (s *crammed) look() {
	_, members, err := s.store.Members(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.view.Members = members
	clear(s.view.Status)
	for _, m := range members {
		s.view.Status[m.ID], _ = s.store.Status(s.Context(), m.ClientURLs[0])
		s.pods[m.Name].Annotations[model.StartAnnotation] = model.StartAs(etcdstart.Established, m.ID)
	}
	s.now, s.history = s.clock.Now(), s.r.upkeep.Of(client.ObjectKeyFromObject(s.c), s.c.Status.ClusterID)
}

// run makes a number of reconciles, each 5 seconds after the previous one.
func (s *crammed) run(rounds int) {
	s.Helper()
	for range rounds {
		s.look()
		d := decision{members: s.members(s.c)}
		d.follow(upkeep.MakeRoom(s.upkeepInput(s.c, d.members)))
		if d.next.Step != nil {
			s.do(*d.next.Step)
		}
		s.clock.Step(underWay)
	}
}

func (s *crammed) do(next steps.Step) {
	s.Helper()
	s.done = append(s.done, strings.Fields(next.Name)[0])
	if next.Begin != nil {
		next.Begin(s.r.taker().Site(s.c)).Do(s.Context(), s.store)
	} else if err := next.Do(s.Context(), s.store); err != nil {
		s.Fatalf("%s: %v", next.Name, err)
	}
}

// count returns how often a step was taken.
func (s *crammed) count(what string) int {
	return len(slices.DeleteFunc(slices.Clone(s.done), func(name string) bool { return name != what }))
}

func TestMembersThatDoNotCountWhatACompactionFreedAreHealed(t *testing.T) {
	for name, dies := range map[string]int{"at once": -1, "by a process that comes after the compaction": 1, "by one that comes after a defragmentation": 4} {
		s := cram(t, 1, 100)
		if dies > 0 {
			s.run(dies)
			s.restarted()
		}
		s.run(20)
		if alarms := s.sim.Alarms("t"); len(alarms) > 0 || s.count("defragment") != 3 {
			t.Errorf("%s: expected each member to be defragmented once and the alarm to be taken back, got %q and alarms %v", name, s.done, alarms)
		}
		if bad := s.sim.Violations(); len(bad) > 0 {
			t.Errorf("%s: %q", name, bad)
		}
	}
}

func TestMembersThatAreFullOfKeysAreDefragmentedOnceAndAgainWhenSomeWereDeleted(t *testing.T) {
	s := cram(t, 100, 0)
	s.run(100)
	if got := fmt.Sprint(s.count("compact"), s.count("defragment")); got != "1 3" {
		t.Errorf("expected one compaction and three defragmentations in vain, got %q", s.done)
	}
	if says := upkeep.OutOfSpace(s.upkeepInput(s.c, nil)); !strings.Contains(says, "no more space can be freed") {
		t.Errorf("expected the message to say that nothing is left to be done, got %s", says)
	}
	s.write(2000, -90*mebi, 90*mebi) // deleted keys take up space as history until a compaction
	s.run(20)
	if alarms := s.sim.Alarms("t"); len(alarms) > 0 {
		t.Errorf("expected the alarm to be taken back in %s, got %q", 20*underWay, s.done)
	}
	if bad := s.sim.Violations(); len(bad) > 0 {
		t.Error(bad)
	}
}
